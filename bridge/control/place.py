"""The place of the control socket, whatever the length of its path, and the user behind a connection.

The rule: only the owner of the data folder (or root) is spoken to, in both directions; where the system does not say
who the peer is, nobody is.
"""

import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

SUPPORTED: Final = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
LONGEST_PATH: Final = 100
"""macOS takes 104 bytes in a socket's name, Linux 108, the closing NUL included."""

SOL_LOCAL: Final = 0
LOCAL_PEERCRED: Final = 1
XUCRED_BYTES: Final = 76  # struct xucred of macOS and the BSDs: version, uid, count and 16 groups


def bind_in(path: Path, made: socket.socket) -> None:
    """Bind to `path`, mode 0600, in place of an old socket. The caller holds the folder's lock, so none is in use."""
    path.unlink(missing_ok=True)
    before = os.umask(0o177)
    try:
        _short(path, made.bind)
    finally:
        os.umask(before)
    path.chmod(0o600)


def connect_to(path: Path, made: socket.socket) -> None:
    """Connect to the socket at `path`."""
    _short(path, made.connect)


def _short(path: Path, act: Callable[[str], None]) -> None:
    """Run `act` with a name for `path` that fits: a long one is reached from its own folder."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        act(str(path))
        return
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)
        act(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


def peer_uid(connection: socket.socket) -> int | None:
    """The user number of the process at the other end, or None where the system does not tell."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            _, uid, _ = struct.unpack("=iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        else:
            _, uid = struct.unpack_from("=II", connection.getsockopt(SOL_LOCAL, LOCAL_PEERCRED, XUCRED_BYTES))
    except (OSError, struct.error):
        return None
    return int(uid)


def is_owner(uid: int | None) -> bool:
    """Whether this user number is ours, or root's, who can do everything anyway."""
    return uid is not None and sys.platform != "win32" and uid in (os.getuid(), 0)
