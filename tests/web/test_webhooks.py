"""Webhooks over real HTTP: who is let in, what runs, once, and what every refusal says."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents import trigger
from agents.trigger import New
from bridge import webhooks
from config.settings import Limits, Webhooks
from mailstore import threads
from tests.post.desk import Desk, Person, counts, desk

SECRET = "a secret of the tests, 32 letters"
ON = Webhooks(enabled=True, max_bytes=1000)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    said: dict[str, Any]


class Hooked:
    """A house with one webhook, and whoever calls it."""

    def __init__(self, house: Desk, ada: Person, ident: str) -> None:
        self.house, self.ada, self.ident = house, ada, ident

    async def raw(self, data: bytes) -> bytes:
        """What the server says to these bytes, until it closes."""
        assert self.house.app.ports is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", self.house.app.ports.web)
        writer.write(data)
        async with asyncio.timeout(20):
            answer = await reader.read()
        writer.close()
        return answer

    async def call(self, body: bytes | str = b"", path: str = "/hooks/ada/deploy", **headers: str) -> Answer:
        data = body.encode() if isinstance(body, str) else body
        sent = {"Host": "localhost", "Authorization": f"Bearer {SECRET}", "Content-Length": str(len(data))}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value)
        answer = await self.raw(f"POST {path} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode() + data)
        head, _, rest = answer.partition(b"\r\n\r\n")
        first, *fields = head.decode().split("\r\n")
        found = {name.lower(): value for name, _, value in (line.partition(": ") for line in fields)}
        said = json.loads(rest) if found.get("content-type") == "application/json" else {}
        return Answer(int(first.split()[1]), found, said)

    async def word(self, word: str) -> None:
        kept = self.house.app.runtime.automations
        await self.house.app.store.write(lambda tx: kept.obey(tx, trigger.get(tx, self.ident), word, f"k.{word}"))

    def run_count(self) -> int:
        return sum(counts(self.house, self.ada).values())


@asynccontextmanager
async def hooked(
    home: Path, overlap: str = "queue", settings: Webhooks = ON, task: str = "Say what broke.", **more: object
) -> AsyncIterator[Hooked]:
    async with desk(home, webhooks=settings, **more) as house:
        ada = await house.person("ada")
        kept, account = house.app.runtime.automations, ada.identity.account

        def make(tx: Any) -> str:
            thread = str(threads.new(tx, account))
            new = New(
                account, "assistant", thread, "run", "webhook deploy", "UTC", "Deploys", task, "k", overlap=overlap
            )
            return kept.make(tx, new, SECRET)[0].id

        yield Hooked(house, ada, await house.app.store.write(make))


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong secret is answered late; the tests do not wait for it."""
    monkeypatch.setattr(webhooks, "delay", lambda seconds: asyncio.sleep(0))


async def test_a_call_is_one_run_in_the_triggers_thread_and_its_result_comes_by_mail(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        said = await at.call('{"build": "red"}', Content_Type="application/json", Idempotency_Key="one")
        assert (said.status, said.said["state"]) == (202, "begun")
        result = await at.ada.mail("Re: Deploys")
        assert result.message["Postroom-Run"] == said.said["run"]
        again = await at.call('{"build": "red"}', Content_Type="application/json", Idempotency_Key="one")
        assert (again.status, again.said["run"], again.said["state"]) == (202, said.said["run"], "again")
        await at.ada.settled()
        assert at.run_count() == 1
        [shown] = await at.ada.wait("Automations", lambda all: "done" in all[0].text)
        assert shown.message["Subject"] == '[active] Deploys: whenever its webhook "deploy" is called'


async def test_five_deliveries_at_once_are_one_run(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        answers = await asyncio.gather(*(at.call("push", X_GitHub_Delivery="d-1") for _ in range(5)))
        assert {answer.status for answer in answers} == {202}
        assert len({answer.said["run"] for answer in answers}) == 1
        await at.ada.settled()
        assert at.run_count() == 1


async def test_the_same_key_with_another_body_is_409(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        assert (await at.call("one", Idempotency_Key="k")).status == 202
        assert (await at.call("two", Idempotency_Key="k")).status == 409
        await at.ada.settled()
        assert at.run_count() == 1


@pytest.mark.parametrize("secret", ["", "Bearer", "Bearer wrong", f"Basic {SECRET}", f"Bearer {SECRET}x"])
async def test_without_the_secret_it_is_401_and_the_body_is_not_even_read(tmp_path: Path, secret: str) -> None:
    """The body never comes: a server that read it first would wait for it."""
    async with hooked(tmp_path) as at:
        head = "POST /hooks/ada/deploy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n"
        head += f"Authorization: {secret}\r\n" if secret else ""
        answer = await at.raw(f"{head}Connection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 401")
        assert b"www-authenticate: bearer" in answer.lower()
        assert at.run_count() == 0


async def test_the_secret_may_come_in_a_header_of_its_own(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        assert (await at.call("x", Authorization="", X_Postroom_Secret=SECRET)).status == 202


@pytest.mark.parametrize("path", ["/hooks/ada/nothing", "/hooks/eve/deploy", "/hooks/ada/deploy/more", "/hooks/ada"])
async def test_what_is_not_there_is_404(tmp_path: Path, path: str) -> None:
    async with hooked(tmp_path) as at:
        assert (await at.call("x", path)).status == 404


async def test_off_is_off(tmp_path: Path) -> None:
    async with hooked(tmp_path, settings=Webhooks()) as at:
        assert (await at.call("x")).status == 404


async def test_a_body_that_is_too_large_is_413_whether_it_says_so_or_not(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        assert (await at.call(b"x" * 1001)).status == 413
        chunks = b"".join(b"%x\r\n%s\r\n" % (400, b"x" * 400) for _ in range(4)) + b"0\r\n\r\n"
        head = f"POST /hooks/ada/deploy HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\n"
        answer = await at.raw(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks)
        assert answer.startswith(b"HTTP/1.1 413")
        assert at.run_count() == 0


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff\xfe", {}, 415),
        (b"a\0b", {}, 415),
        (b"x", {"Content_Encoding": "gzip"}, 415),
        (b"{", {"Content_Type": "application/json"}, 400),
        (b"[" * 900, {"Content_Type": "application/vnd.x+json"}, 400),
        (b"x", {"Idempotency_Key": "k" * 201}, 400),
        (b"x", {"Content_Length": "-1"}, 400),
        (b"x", {"Host": "evil.example"}, 421),
    ],
)
async def test_what_cannot_be_taken_is_said(tmp_path: Path, body: bytes, headers: dict[str, str], status: int) -> None:
    async with hooked(tmp_path) as at:
        assert (await at.call(body, **headers)).status == status
        assert at.run_count() == 0


async def test_other_methods_are_405(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        answer = await at.raw(b"GET /hooks/ada/deploy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 405")


async def test_while_it_runs_a_webhook_that_leaves_out_says_409_and_takes_the_same_call_later(tmp_path: Path) -> None:
    async with hooked(tmp_path, "skip", task="Tell maya@example.org that the build broke.") as at:
        assert (await at.call("x", Idempotency_Key="1")).status == 202
        request = await at.ada.mail("Approve?")
        assert "It read untrusted text before asking: what the hook received" in request.text
        assert (await at.call("x", Idempotency_Key="2")).status == 409
        await at.ada.reply(request, "reject")
        await at.ada.mail("Re: Deploys")
        assert (await at.call("x", Idempotency_Key="2")).status == 202


async def test_paused_is_503_with_a_time_to_come_again_and_the_same_call_counts_later(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        await at.word("pause")
        said = await at.call("x", Idempotency_Key="k")
        assert (said.status, said.headers["retry-after"]) == (503, "600")
        await at.word("resume")
        assert (await at.call("x", Idempotency_Key="k")).status == 202


async def test_too_many_in_an_hour_is_429(tmp_path: Path) -> None:
    async with hooked(tmp_path, limits=Limits(fires_per_hour=1)) as at:
        assert (await at.call("1")).status == 202
        assert (await at.call("2")).status == 429


async def test_a_deleted_message_is_a_deleted_webhook(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        assert (await at.call("x")).status == 202
        await at.ada.settled()
        [shown] = await at.ada.wait("Automations", lambda all: bool(all) and "done" in all[0].text)
        await at.ada.move(shown, "Automations", "Trash")
        assert (await at.call("y")).status == 503
        await at.ada.expunge((await at.ada.wait("Trash", bool))[0], "Trash")
        assert (await at.call("z")).status == 404


async def test_nothing_of_a_secret_or_a_body_is_in_the_log_or_on_the_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with hooked(tmp_path) as at:
        await at.call("canary-of-the-body")
        await at.call("x", Authorization="Bearer canary-of-a-wrong-one")
        await at.ada.settled()
    assert SECRET not in caplog.text
    assert "canary" not in caplog.text
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]  # noqa: ASYNC240 - after it is over
    assert not any(SECRET.encode() in data or b"canary-of-a-wrong-one" in data for data in files)


async def test_a_client_that_goes_away_in_its_body_begins_nothing(tmp_path: Path) -> None:
    async with hooked(tmp_path) as at:
        assert at.house.app.ports is not None
        _, writer = await asyncio.open_connection("127.0.0.1", at.house.app.ports.web)
        head = f"POST /hooks/ada/deploy HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\n"
        writer.write(f"{head}Content-Length: 900\r\n\r\nhalf of it".encode())
        await writer.drain()
        writer.transport.abort()
        assert (await at.call("whole", Idempotency_Key="k")).status == 202
        await at.ada.settled()
        assert at.run_count() == 1
