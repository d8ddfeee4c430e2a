"""How a server that runs for weeks keeps its memory: large blocks apart, and garbage looked for seldom.

Rule: nothing depends on it; where the C library has no such setting (macOS, Windows, musl) nothing happens.
"""

import ctypes
import gc
import sys
from typing import Final

M_MMAP_THRESHOLD: Final = -3  # of <malloc.h>
LARGE: Final = 128 * 1024  # bytes; glibc's own start value, which it raises when a larger block is freed


YOUNG: Final = 20_000  # new objects after which Python looks for garbage among them; of itself it does so after 700


def look_for_garbage_seldom() -> None:
    """To be called when everything is loaded: what is there now stays, and is not looked at again.

    A list of 50,000 rows is 50,000 new objects, none of them garbage: looking at them, and at all that was loaded at
    the start, was a third of the time to read them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)


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
