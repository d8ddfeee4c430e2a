"""SmtpRelay against a real mail server that misbehaves at every phase (DECISIONS 30, 33)."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.letter import OutsideMail
from agents.ports import Dispatch, RelayRefused, RelayUncertain
from bridge.net.tls import Certificates, ensure_certificates
from bridge.norelay import NoRelay
from bridge.relay import SmtpRelay
from bridge.sink import Sink
from config.secrets import Secret
from config.settings import Relay

RAW = b"From: me@out.example\r\nTo: maya@example.org\r\nSubject: x\r\nMessage-ID: <m@out.example>\r\n\r\n.dot\r\nhi\r\n"


class Story:
    """What happened, in order: the phases that the relay told, and the points it passed."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.events: list[str] = []

    async def data_sent(self) -> None:
        assert self.sink.messages == []
        self.events.append("data_sent")

    def point(self, name: str) -> None:
        self.events.append(name)


@pytest.fixture
async def sink() -> AsyncIterator[Sink]:
    made = Sink()
    await made.start()
    yield made
    await made.close()


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return ensure_certificates(tmp_path)


def settings(sink: Sink, **changes: object) -> Relay:
    fields = {"host": "127.0.0.1", "port": sink.port, "sender": "me@out.example", "tls": "none", "timeout": 5}
    return Relay(**(fields | changes))  # type: ignore[arg-type]  # a table of fields


def relay(
    sink: Sink, story: Story | None = None, raw: bytes = RAW, seconds: float = 5.0, **changes: object
) -> SmtpRelay:
    return SmtpRelay(settings(sink, **changes), lambda dispatch: raw, probe=story, final_seconds=seconds)


def dispatch(*to: str) -> Dispatch:
    return Dispatch(OutsideMail(to or ("maya@example.org",), "x", "hi"), "<m@out.example>", 1, "assistant")


async def test_a_mail_goes_out_and_the_phases_are_told_in_order(sink: Sink) -> None:
    story = Story(sink)
    reply = await relay(sink, story).deliver(dispatch("maya@example.org", "bo@example.org"), story)
    assert reply == "250 2.0.0 taken as 1"
    (message,) = sink.messages
    assert message.sender == "me@out.example"
    assert message.recipients == ("maya@example.org", "bo@example.org")
    assert message.data == RAW
    assert story.events == [
        "relay.connect.before",
        "relay.connect.after",
        "data_sent",
        "relay.data.before",
        "relay.data.after",
    ]
    await sink.idle()
    assert sink.log[-1] == "QUIT"


async def test_data_sent_is_told_after_rcpt_and_before_any_byte_of_the_body(sink: Sink) -> None:
    """The sink waits for the body; while `data_sent` is not through, none may come."""
    held = asyncio.Event()
    asked = asyncio.Event()

    class Slow:
        async def data_sent(self) -> None:
            asked.set()
            await held.wait()

    task = asyncio.create_task(relay(sink).deliver(dispatch(), Slow()))
    await asyncio.wait_for(asked.wait(), 20)
    assert "RCPT TO:<maya@example.org>" in sink.log
    assert sink.messages == []
    held.set()
    await asyncio.wait_for(task, 20)
    assert len(sink.messages) == 1


BEFORE = ("connect", "ehlo", "mail", "rcpt", "data")


@pytest.mark.parametrize("phase", BEFORE)
async def test_cut_before_the_body_is_a_refusal_for_now(sink: Sink, phase: str) -> None:
    story = Story(sink)
    sink.cut(phase)
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, story).deliver(dispatch(), story)
    assert not refused.value.permanent
    assert "data_sent" not in story.events
    assert sink.messages == []


@pytest.mark.parametrize("phase", BEFORE)
@pytest.mark.parametrize(("reply", "permanent"), [("451 4.3.0 later", False), ("550 5.7.1 never", True)])
async def test_refused_before_the_body_says_so_for_now_or_for_good(
    sink: Sink, phase: str, reply: str, permanent: bool
) -> None:
    if phase == "ehlo":
        sink.refuse("ehlo", reply)  # aiosmtplib falls back to HELO, which is refused as well
    sink.refuse(phase, reply)
    story = Story(sink)
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, story).deliver(dispatch(), story)
    assert refused.value.permanent is permanent
    assert reply[4:] in refused.value.text
    assert "127.0.0.1" in refused.value.text
    assert "data_sent" not in story.events


@pytest.mark.parametrize("phase", BEFORE)
async def test_silence_before_the_body_is_a_refusal_for_now(sink: Sink, phase: str) -> None:
    story = Story(sink)
    sink.hold(phase)
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, story, timeout=1).deliver(dispatch(), story)
    assert not refused.value.permanent
    assert "data_sent" not in story.events


@pytest.mark.parametrize("phase", ["body", "end"])
async def test_cut_after_the_body_is_uncertain(sink: Sink, phase: str) -> None:
    story = Story(sink)
    sink.cut(phase)
    with pytest.raises(RelayUncertain):
        await relay(sink, story).deliver(dispatch(), story)
    assert "data_sent" in story.events


async def test_it_is_uncertain_because_it_may_have_been_taken(sink: Sink) -> None:
    sink.cut("end", keep=True)
    with pytest.raises(RelayUncertain):
        await relay(sink).deliver(dispatch(), Story(sink))
    assert len(sink.messages) == 1


async def test_silence_after_the_body_is_uncertain(sink: Sink) -> None:
    sink.hold("end")
    with pytest.raises(RelayUncertain):
        await relay(sink, seconds=0.2).deliver(dispatch(), Story(sink))


@pytest.mark.parametrize(("reply", "permanent"), [("452 4.2.2 full", False), ("554 5.7.1 spam", True)])
async def test_a_reply_to_the_body_decides(sink: Sink, reply: str, permanent: bool) -> None:
    sink.refuse("end", reply)
    with pytest.raises(RelayRefused) as refused:
        await relay(sink).deliver(dispatch(), Story(sink))
    assert refused.value.permanent is permanent
    assert reply in refused.value.text


@pytest.mark.parametrize("reply", ["what?", "354 more", "999 x", ""])
async def test_nonsense_after_the_body_is_uncertain(sink: Sink, reply: str) -> None:
    sink.refuse("end", reply or "  ")
    with pytest.raises(RelayUncertain):
        await relay(sink, seconds=2).deliver(dispatch(), Story(sink))


async def test_nobody_listening_is_a_refusal_for_now(sink: Sink) -> None:
    await sink.close()
    with pytest.raises(RelayRefused) as refused:
        await relay(sink).deliver(dispatch(), Story(sink))
    assert not refused.value.permanent


async def test_one_refused_recipient_means_nobody_gets_it(sink: Sink) -> None:
    story = Story(sink)
    sink.hold("rcpt").release()
    sink.refuse("rcpt", "550 5.1.1 no such user")
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, story).deliver(dispatch("maya@example.org", "nobody@example.org"), story)
    assert refused.value.permanent
    assert sink.messages == []
    assert "data_sent" not in story.events


async def test_a_cancelled_delivery_leaves_no_connection(sink: Sink) -> None:
    held = sink.hold("connect")
    task = asyncio.create_task(relay(sink).deliver(dispatch(), Story(sink)))
    await asyncio.wait_for(held.reached.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    held.release()
    assert sink.messages == []


@pytest.mark.parametrize("raw", [b"a\nb\r\n", b"a\rb\r\n", b"a\0\r\n"])
async def test_only_clean_bytes_leave(sink: Sink, raw: bytes) -> None:
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, raw=raw).deliver(dispatch(), Story(sink))
    assert refused.value.permanent
    assert sink.connections == 0


async def test_a_mail_without_a_last_line_end_gets_one(sink: Sink) -> None:
    await relay(sink, raw=b"From: a@b\r\n\r\nend").deliver(dispatch(), Story(sink))
    assert sink.messages[0].data == b"From: a@b\r\n\r\nend\r\n"


@pytest.mark.parametrize(
    "address", ["x", "", "a b@c.example", "a@b>\r\nRCPT TO:<evil@x", "a\x00@b", "<a@b>", "a@\u2028b"]
)
async def test_a_malformed_recipient_is_never_put_on_the_wire(sink: Sink, address: str) -> None:
    with pytest.raises(RelayRefused) as refused:
        await relay(sink).deliver(dispatch(address), Story(sink))
    assert refused.value.permanent
    assert not any("evil" in line for line in sink.log)


async def test_no_recipient_is_refused_without_a_connection(sink: Sink) -> None:
    with pytest.raises(RelayRefused):
        await relay(sink).deliver(Dispatch(OutsideMail((), "x", "hi"), "<m@x>", 1, "a"), Story(sink))
    assert sink.connections == 0


async def test_bounces_go_to_the_bounce_mailbox(sink: Sink) -> None:
    await relay(sink, bounce_mailbox="bounces@out.example").deliver(dispatch(), Story(sink))
    assert sink.messages[0].sender == "bounces@out.example"


async def test_addresses_beyond_ascii(sink: Sink) -> None:
    await relay(sink).deliver(dispatch("maya@bücher.example"), Story(sink))
    assert sink.messages[0].recipients == ("maya@xn--bcher-kva.example",)
    await relay(sink).deliver(dispatch("jörg@bücher.example"), _Told())
    assert sink.messages[1].recipients == ("jörg@bücher.example",)
    assert any("SMTPUTF8" in line for line in sink.log)


async def test_what_the_relay_cannot_carry_is_refused_for_good() -> None:
    plain = Sink(extensions=())
    await plain.start()
    for mail, raw in ((dispatch("jörg@example.org"), RAW), (dispatch(), RAW + "ä\r\n".encode())):
        with pytest.raises(RelayRefused) as refused:
            await relay(plain, raw=raw).deliver(mail, _Told())
        assert refused.value.permanent
    await plain.close()


class _Told:
    """Phases that nobody looks at."""

    async def data_sent(self) -> None:
        return None


@pytest.mark.parametrize("how", ["starttls", "implicit"])
async def test_over_tls_with_a_login(how: str, certificates: Certificates) -> None:
    sink = Sink(tls=certificates.context, implicit=how == "implicit", users={"me": "pass word"})
    await sink.start()
    secret = Secret("env:RELAY", environ={"RELAY": "pass word"})
    made = SmtpRelay(
        settings(sink, host="localhost", tls=how, username="me", password=secret),
        lambda dispatch: RAW,
        tls_context=ssl.create_default_context(cafile=certificates.ca_file),
    )
    await made.deliver(dispatch(), _Told())
    assert sink.messages[0].secure
    assert sink.messages[0].login == "me"
    await sink.close()


async def test_a_certificate_that_is_not_trusted_is_refused_for_good(certificates: Certificates) -> None:
    sink = Sink(tls=certificates.context, implicit=True)
    await sink.start()
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, host="localhost", tls="implicit").deliver(dispatch(), _Told())
    assert refused.value.permanent
    assert sink.messages == []
    await sink.close()


async def test_starttls_that_is_not_offered_is_refused_and_nothing_is_said_in_clear(sink: Sink) -> None:
    secret = Secret("env:RELAY", environ={"RELAY": "pass word"})
    with pytest.raises(RelayRefused):
        await relay(sink, tls="starttls", username="me", password=secret).deliver(dispatch(), _Told())
    assert sink.messages == []
    assert not any(line.startswith(("AUTH", "MAIL")) for line in sink.log)


async def test_a_wrong_password_is_for_good_and_never_shown(certificates: Certificates) -> None:
    sink = Sink(users={"me": "right"})
    await sink.start()
    secret = Secret("env:RELAY", environ={"RELAY": "wrong-secret"})
    with pytest.raises(RelayRefused) as refused:
        await relay(sink, username="me", password=secret).deliver(dispatch(), _Told())
    assert refused.value.permanent
    assert "wrong-secret" not in refused.value.text
    missing = Secret("env:NOT_THERE", environ={})
    with pytest.raises(RelayRefused, match="NOT_THERE"):
        await relay(sink, username="me", password=missing).deliver(dispatch(), _Told())
    await sink.close()


async def test_without_a_relay_nothing_leaves() -> None:
    assert not NoRelay().configured
    with pytest.raises(RelayRefused):
        await NoRelay().deliver(dispatch(), _Told())


def test_what_is_shown_to_the_user() -> None:
    made = relay(Sink(), host="mail.example.net")
    assert (made.configured, made.name, made.sender) == (True, "mail.example.net", "me@out.example")


async def test_an_unknown_phase_of_the_sink_is_an_error() -> None:
    with pytest.raises(ValueError, match="no phase"):
        Sink().cut("nowhere")
