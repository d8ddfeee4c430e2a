"""The reader of system call traces, on traces written by hand."""

from tests.crash.syscalls import Promise, fault, parse

WAL = "16</home/a/postroom.sqlite3-wal>"
SOCKET = "25<socket:[77]>"
PROMISE = Promise("Subject: x", "Subject: x", '"250 ')

ASK = f'7  read({SOCKET}, "Subject: x\\r\\n.\\r\\n", 1024) = 15'
KEEP = f'8  pwrite64({WAL}, "page Subject: x", 4096, 24) = 4096'
SYNC = f"8  fdatasync({WAL}) = 0"
SAY = f'7  sendto({SOCKET}, "250 2.0.0 kept\\r\\n", 16, 0, NULL, 0) = 16'


def told(*lines: str) -> str:
    return fault(parse(lines), PROMISE)


def test_a_call_in_two_parts_ends_with_the_second() -> None:
    (sync, say) = parse([f"8  fdatasync({WAL} <unfinished ...>", SAY, "8  <... fdatasync resumed>) = 0"])
    assert (sync.name, sync.begin, sync.end, sync.result) == ("fdatasync", 0, 2, 0)
    assert (say.begin, say.on_socket, say.file) == (1, True, "socket:[77]")


def test_a_call_that_failed_or_never_ended() -> None:
    (failed, lost) = parse(
        [f"8  fdatasync({WAL}) = -1 EIO (Input/output error)", f"8  fdatasync({WAL} <unfinished ...>"]
    )
    assert failed.result == -1
    assert lost.result is None
    assert lost.end > 10**9


def test_lines_that_are_no_calls_are_passed_over() -> None:
    assert (
        parse(["7  +++ exited with 0 +++", "7  --- SIGTERM {si_signo=SIGTERM} ---", "8  <... read resumed>) = 0"]) == []
    )


def test_the_order_that_is_right() -> None:
    assert told(ASK, KEEP, SYNC, SAY) == ""


def test_said_before_it_was_written() -> None:
    assert told(ASK, SAY, KEEP, SYNC) == "it was said before it was written"


def test_said_before_it_was_synced() -> None:
    late = "it was said before the disk had it"
    assert told(ASK, KEEP, SAY, SYNC) == late
    assert told(ASK, SYNC, KEEP, SAY) == late
    assert told(ASK, KEEP, f"8  fdatasync({WAL} <unfinished ...>", SAY, "8  <... fdatasync resumed>) = 0") == late
    assert told(ASK, KEEP, f"8  fdatasync({WAL}) = -1 EIO (Input/output error)", SAY) == late
    assert told(ASK, KEEP, "8  fdatasync(9</home/a/textindex.sqlite3-wal>) = 0", SAY) == late


def test_nothing_was_asked_or_said() -> None:
    assert told(KEEP, SYNC, SAY).startswith("nobody asked")
    assert told(ASK, KEEP, SYNC).startswith("nothing was said")
