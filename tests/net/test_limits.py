"""Limits of logins and connections, with a clock that the test moves."""

import pytest

from bridge.net.limits import NETWORK_FAILURES, WINDOW, ConnectionLimits, LoginLimited, LoginLimits, is_loopback


class Clock:
    """Monotonic seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits(clock: Clock) -> LoginLimits:
    return LoginLimits(clock)


def test_wrong_passwords_are_slowed_more_and_more_up_to_two_seconds(limits: LoginLimits) -> None:
    # req rfc9051/11.7-delay
    # req 11.2-delay
    assert [limits.failed("127.0.0.1", "you") for _ in range(5)] == [0.5, 1.0, 2.0, 2.0, 2.0]


def test_auth_05_loopback_is_never_shut_out_and_other_logins_are_not_slowed(limits: LoginLimits) -> None:
    for _ in range(NETWORK_FAILURES * 5):
        limits.failed("127.0.0.1", "you")
        limits.failed("::1", "you")
    for peer in ("127.0.0.1", "::1", "127.0.0.5", "::ffff:127.0.0.1"):
        limits.check(peer, "you")
    assert limits.failed("127.0.0.1", "ada") == 0.5


def test_auth_05_a_network_peer_reaches_a_limit_that_says_how_long(limits: LoginLimits, clock: Clock) -> None:
    for attempt in range(NETWORK_FAILURES):
        limits.check("192.0.2.7", f"guess{attempt}")
        limits.failed("192.0.2.7", f"guess{attempt}")
    with pytest.raises(LoginLimited) as limited:
        limits.check("192.0.2.7", "you")
    assert 0 < limited.value.seconds <= WINDOW
    limits.check("192.0.2.8", "you")
    limits.check("127.0.0.1", "you")
    clock.now += WINDOW + 1
    limits.check("192.0.2.7", "you")
    assert limits.failed("192.0.2.7", "you") == 0.5


def test_a_right_password_clears_the_record(limits: LoginLimits) -> None:
    limits.failed("127.0.0.1", "you")
    limits.failed("127.0.0.1", "you")
    limits.succeeded("127.0.0.1", "YOU")
    assert limits.failed("127.0.0.1", "you") == 0.5


def test_memory_is_bounded(limits: LoginLimits) -> None:
    for number in range(10_000):
        limits.failed("127.0.0.1", f"login{number}")
    assert len(limits._failures) <= 4096


def test_connections_of_one_peer_and_of_all() -> None:
    limits = ConnectionLimits(total=4, per_peer=2)
    assert [limits.admit("192.0.2.7") for _ in range(3)] == [True, True, False]
    assert limits.admit("192.0.2.8")
    assert limits.admit("127.0.0.1")
    assert not limits.admit("127.0.0.1")
    limits.leave("192.0.2.7")
    assert limits.admit("127.0.0.1")


@pytest.mark.parametrize(
    ("peer", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::1%lo", True),
        ("::ffff:127.0.0.1", True),
        ("", True),
        ("192.168.0.1", False),
        ("::ffff:192.0.2.1", False),
        ("fe80::1%eth0", False),
        ("localhost", False),
    ],
)
def test_what_is_loopback(peer: str, loopback: bool) -> None:
    assert is_loopback(peer) is loopback
