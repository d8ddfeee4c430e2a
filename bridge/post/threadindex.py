"""Outlook's Thread-Index ([MS-OXOMSG] 2.2.1.3): 22 bytes common to a thread, and 5 more for each reply.

The rule: the first 22 bytes depend on the thread alone, so that a reply which carries nothing else is still ours.
"""

import base64
import hashlib
import struct

ROOT_SIZE = 22
_FILETIME_EPOCH_MS = 11_644_473_600_000


def root(thread: str) -> bytes:
    """The 22 bytes of a thread: the reserved 1, five bytes where the time would be, a GUID; all made from its name."""
    digest = hashlib.sha256(f"postroom thread {thread}".encode()).digest()
    return b"\x01" + digest[: ROOT_SIZE - 1]


def child(thread: str, millis: int) -> str:
    """The header's value for a mail written at `millis` (UTC) in the thread."""
    ticks = (millis + _FILETIME_EPOCH_MS) * 10_000
    block = struct.pack(">I", (ticks >> 18) & 0x7FFF_FFFF) + bytes([ticks & 0xFF])
    return base64.b64encode(root(thread) + block).decode("ascii")
