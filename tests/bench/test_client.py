"""The client that measures: every answer is heard whole and apart from the next, however it comes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.client import ROOM, Client, Target, Unexpected

BIG = b"* 1 FETCH (BODY[] {%d}\r\n%b)\r\n" % (5 * ROOM, b"line\r\n" * (5 * ROOM // 6 + 1))


@contextmanager
def answering(*answers: bytes, size: int = 1 << 20) -> Iterator[Target]:
    """A server that greets and gives one answer a command, in pieces of a size; `TAG` stands for the command's tag."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as lines:
            connection.sendall(b"* OK here\r\n")
            for answer in answers:
                said = answer.replace(b"TAG", lines.readline().split(b" ")[0])
                for start in range(0, len(said), size):
                    connection.sendall(said[start : start + size])
            lines.readline()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Target("scripted", listening.getsockname()[1], 0, Path(), "", "", 0)
        thread.join(20)
    finally:
        listening.close()


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_answers_are_heard_one_by_one(size: int) -> None:
    answers = (
        b"* 1 EXISTS\r\nTAG OK done\r\n",
        b"TAG OK nothing\r\n",
        b"* OK later\r\nTAG OK [X] z000001 \r\n* EXTRA\r\n",
    )
    with answering(*answers, size=size) as target, Client(target, login=False) as client:
        assert client.command("A") == b"* 1 EXISTS\r\nz000001 OK done\r\n"
        client.act("B")
        assert client.command("C") == b"* OK later\r\nz000003 OK [X] z000001 \r\n"
        assert client.line() == b"* EXTRA"


def test_a_long_last_line_in_many_pieces_is_heard_whole() -> None:
    """As of COPYUID with many ranges."""
    last = b"* 1 EXISTS\r\nTAG OK [COPYUID 1 " + b"1," * 1000 + b"2 3] done\r\n"
    with answering(last, last, size=7) as target, Client(target, login=False) as client:
        assert client.command("A") == last.replace(b"TAG", b"z000001")
        assert client.command("B") == last.replace(b"TAG", b"z000002")


def test_answers_larger_than_the_buffer_are_heard_whole() -> None:
    answers = (BIG + b"TAG OK\r\n", BIG + b"TAG OK\r\n* NEXT\r\n", b"TAG OK end\r\n")
    with answering(*answers) as target, Client(target, login=False) as client:
        assert client.command("A") == BIG + b"z000001 OK\r\n"
        client.act("B")
        client.until(rb"NEXT")
        assert client.command("C") == b"z000003 OK end\r\n"


def test_no_and_the_end_of_the_connection_are_told() -> None:
    answers = (b"TAG NO not now\r\n", b"TAG NO again\r\n", b"* half")
    with answering(*answers) as target, Client(target, login=False) as client:
        assert client.command("A", ok=False) == b"z000001 NO not now\r\n"
        with pytest.raises(Unexpected, match="NO again"):
            client.act("B")
        client.start("C")
        client.start("D")
        with pytest.raises(Unexpected, match="closed"):
            client.until(rb"never")
