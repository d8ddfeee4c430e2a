"""One setting of the C library's allocator that halves the memory of an idle TLS connection.

Rule: nothing depends on it; where the library has no such setting (macOS, Windows, musl) nothing happens.
"""

import ctypes
import sys
from typing import Final

M_MMAP_THRESHOLD: Final = -3  # of <malloc.h>
LARGE: Final = 128 * 1024  # bytes; glibc's own start value, which it raises when a larger block is freed


def keep_large_blocks_apart() -> bool:
    """Have glibc give each block of 128 KiB or more pages of its own, for good; whether it does so now.

    uvloop has a buffer of 256 KiB for each TLS connection and touches a page or two of it. Once the program has freed a
    larger block (reading a large module is enough), glibc takes such buffers from the heap instead, over pages that
    a handshake has just used: measured 47 kB a connection against 24 kB.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and mallopt(M_MMAP_THRESHOLD, LARGE) == 1
