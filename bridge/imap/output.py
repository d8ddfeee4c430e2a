"""What a session has to say: lines are gathered and sent in pieces, at the pace of the peer.

Rule: only whole lines are gathered, so whatever is sent in between falls between two lines.
"""

from collections.abc import Iterable

from bridge.net.transport import PIECE, Wire, loads


class Output:
    """The speaking half of a session; `wire` is set when the connection stands."""

    __slots__ = ("_flushing", "_out", "wire")

    def __init__(self) -> None:
        self.wire: Wire
        self._out: list[bytes] = []
        self._flushing = False  # an answer is under way, perhaps in the middle of a line

    def say(self, line: bytes) -> None:
        """An untagged line, without `* ` and CRLF."""
        self._out.append(b"* " + line + b"\r\n")

    def write(self, data: bytes) -> None:
        """Whole lines, ready for the wire."""
        self._out.append(data)

    def prompt(self, text: bytes) -> None:
        self._out.append(b"+ " + text + b"\r\n")

    def write_pieces(self, pieces: Iterable[bytes]) -> None:
        """Whole lines in pieces; large ones are not copied on their way to the wire."""
        self._out.extend(pieces)

    async def flush(self) -> None:
        """Send what has been written, load by load, waiting for a slow peer. Raises ConnectionError when he is gone."""
        out, self._out = self._out, []
        self._flushing = True
        try:
            little = out and sum(map(len, out)) <= PIECE
            for load in (out,) if little else loads(out):
                self.wire.write_all(load)
                if not self.wire.writable:
                    await self.wire.drain()
            if not self.wire.writable:
                await self.wire.drain()
        finally:
            self._flushing = False

    async def flush_much(self) -> None:
        """Send what has been written once it is much; a little goes out together with the end of the command."""
        if sum(map(len, self._out)) >= PIECE:
            await self.flush()

    def flush_now(self) -> None:
        """Send without waiting; for short lines outside of any command."""
        self.wire.write(b"".join(self._out))
        self._out.clear()
