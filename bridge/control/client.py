"""The client's side of the control socket: one command, one answer, without a loop.

The rule: it speaks only to a server of its own user, and never waits without an end.
"""

import socket
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from bridge.control.place import SUPPORTED, connect_to, is_owner, peer_uid
from bridge.control.protocol import FORBIDDEN, INTERNAL, MAX_REPLY, ControlError, Json, read_reply, write_request

SECONDS: Final = 30.0


class NoServer(ControlError):
    """Nothing answers at the control socket."""

    def __init__(self, why: str, fix: str) -> None:
        super().__init__("no-server", why, fix)


def call(path: Path, command: str, args: Mapping[str, Any], payload: bytes = b"", *, seconds: float = SECONDS) -> Json:
    """Run a command in the server whose socket is at `path`. Raises ControlError, NoServer."""
    if not SUPPORTED:
        raise NoServer("a running server cannot be reached on this system", "stop the server, then try again")
    line = write_request(command, args, len(payload))
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as made:
        made.settimeout(seconds)
        try:
            connect_to(path, made)
            if not is_owner(peer_uid(made)):
                raise ControlError(FORBIDDEN, f"{path} is served by another user", "run this as the server's user")
            return read_reply(_exchange(made, line, payload))
        except (FileNotFoundError, ConnectionRefusedError):
            raise NoServer("the server does not listen for commands (yet)", "try again in a moment") from None
        except TimeoutError:
            raise NoServer(f"the server did not answer within {seconds:.0f} s", "look at its log") from None
        except OSError as error:
            raise NoServer(f"the server cannot be reached ({error.strerror or error})", "look at its log") from None


def _exchange(made: socket.socket, line: bytes, payload: bytes) -> bytes:
    """Send all, read one line. A server that refuses early may close while we still send: its reply is read anyway."""
    try:
        made.sendall(line)
        made.sendall(payload)
    except (BrokenPipeError, ConnectionResetError):
        pass
    with made.makefile("rb") as stream:
        reply = stream.readline(MAX_REPLY)
    if not reply:
        raise ControlError(INTERNAL, "the server ended the connection without an answer", "look at its log")
    return reply
