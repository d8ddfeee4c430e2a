"""The allocator setting takes on this platform, and a large block then has pages of its own; garbage is still found."""

import platform
import subprocess
import sys

from bridge.net.memory import keep_large_blocks_apart

SCRIPT = """
import ctypes
from pathlib import Path
from bridge.net.memory import keep_large_blocks_apart

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def in_heap():
    libc.free(libc.malloc(8 << 20))  # raises glibc's own threshold, unless it has been fixed
    block = libc.malloc(256 << 10)
    line = next(l for l in Path("/proc/self/maps").read_text().splitlines() if l.endswith("[heap]"))
    low, high = (int(end, 16) for end in line.split()[0].split("-"))
    return low <= block < high

%s
print(in_heap())
"""


def run(setting: str) -> str:
    done = subprocess.run([sys.executable, "-c", SCRIPT % setting], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_large_block_has_pages_of_its_own_once_set() -> None:
    """Where the C library is glibc; elsewhere there is nothing to set, and that is said."""
    glibc = sys.platform == "linux" and platform.libc_ver()[0] == "glibc"
    assert keep_large_blocks_apart() is glibc
    if glibc:
        assert run("") == "True"
        assert run("keep_large_blocks_apart()") == "False"


def test_garbage_is_looked_for_seldom_but_found() -> None:
    script = """
import gc, weakref
from bridge.net.memory import YOUNG, look_for_garbage_seldom

class Loop:
    def __init__(self):
        self.me = self

old = Loop()
look_for_garbage_seldom()
print(gc.get_freeze_count() > 1000, gc.get_threshold()[0] == YOUNG)
lost = weakref.ref(Loop())
kept = [[] for _ in range(YOUNG + 1000)]
print(lost() is None, len(kept))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True", "21000"]
