"""Signed webhooks: each scheme as its service makes it; at the door what is forged, old, played again or unready."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from bridge import signatures, webhooks
from bridge.signatures import Unsigned, claim, fits, key_bytes
from config.secrets import Secret
from config.settings import Scheme, Signature
from tests.web.test_webhooks import Hooked, hooked, hurried

__all__ = ["hurried"]

NOW = 1_531_420_618
KEY = "a key of the tests, 32 letters.."
SLACK_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name="
    b"foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2F"
    b"hooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id="
    b"398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
"""The example of Slack's own page on signing, as is GitHub's below."""


def mac(text: bytes, key: str = KEY) -> bytes:
    return hmac.new(key.encode(), text, hashlib.sha256).digest()


def signature(scheme: str, **options: Any) -> Signature:
    return Signature("deploy", scheme=cast("Scheme", scheme), **options)


def holds(
    scheme: str, headers: dict[str, str], body: bytes, key: str = KEY, now: float = NOW, header: str = ""
) -> bool:
    signed = signature(scheme, header=header or "X-Signature")
    return fits(claim(signed, headers, now), key_bytes(signed, key), body)


def test_what_github_and_slack_give_as_examples_holds() -> None:
    signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    github = {"x-hub-signature-256": f"sha256={signature}"}
    assert holds("github", github, b"Hello, World!", "It's a Secret to Everybody")
    assert not holds("github", github, b"Hello, World?", "It's a Secret to Everybody")
    slack = {
        "x-slack-request-timestamp": str(NOW),
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    assert holds("slack", slack, SLACK_BODY, "8f742231b10e8888abcd99yyyzzz85a5")
    assert not holds("slack", slack, SLACK_BODY, "8f742231b10e8888abcd99yyyzzz85a6")


def stripe(body: bytes, at: int = NOW, key: str = KEY) -> dict[str, str]:
    return {"stripe-signature": f"t={at},v0=00,v1={'0' * 64},v1={mac(b'%d.' % at + body, key).hex()}"}


def standard(body: bytes, at: int = NOW, ident: str = "msg_1") -> dict[str, str]:
    made = base64.b64encode(mac(f"{ident}.{at}.".encode() + body)).decode()
    stamp = {"webhook-id": ident, "webhook-timestamp": str(at)}
    return {**stamp, "webhook-signature": f"v1a,AAAA v1,{base64.b64encode(bytes(32)).decode()} v1,{made}"}


def test_several_signatures_count_while_a_service_changes_its_key() -> None:
    assert holds("stripe", stripe(b"{}"), b"{}")
    assert not holds("stripe", stripe(b"{}"), b"{ }")
    told = "whsec_" + base64.b64encode(KEY.encode()).decode()
    assert holds("standard", standard(b"{}"), b"{}", told)
    assert not holds("standard", {**standard(b"{}"), "webhook-id": "msg_2"}, b"{}", told)


@pytest.mark.parametrize("form", ["{hex}", "sha256={hex}", "SHA256={HEX}", "{base64}", "sha256={base64}"])
def test_a_plain_signature_in_the_forms_that_services_send(form: str) -> None:
    made = mac(b"body")
    said = form.format(hex=made.hex(), HEX=made.hex().upper(), base64=base64.b64encode(made).decode())
    assert holds("plain", {"x-mine": said}, b"body", header="X-Mine")
    assert not holds("plain", {"x-mine": said}, b"Body", header="X-Mine")


@pytest.mark.parametrize(
    ("scheme", "headers"),
    [
        ("github", {}),
        ("github", {"x-hub-signature-256": mac(b"").hex()}),
        ("github", {"x-hub-signature-256": f"sha256={mac(b'').hex()[:-2]}"}),
        ("github", {"x-hub-signature-256": "sha256=" + "g" * 64}),
        ("stripe", {"stripe-signature": f"v1={mac(b'.').hex()}"}),
        ("stripe", {"stripe-signature": f"t=,v1={mac(b'.').hex()}"}),
        ("stripe", {"stripe-signature": f"t=-1,v1={mac(b'-1.').hex()}"}),
        ("stripe", {"stripe-signature": f"t={'9' * 400},v1={'0' * 64}"}),
        ("stripe", {"stripe-signature": f"t=١٥٣١٤٢٠٦١٨,v1={'0' * 64}"}),
        ("slack", {"x-slack-signature": f"v0={mac(b'v0::').hex()}"}),
        ("standard", {**standard(b""), "webhook-id": ""}),
        ("standard", {**standard(b""), "webhook-signature": "v1,####"}),
        ("standard", {**standard(b""), "webhook-signature": "v1,ä"}),
        ("plain", {"x-signature": "sha256="}),
        ("plain", {"x-signature": "\x00"}),
    ],
)
def test_what_is_no_signature_is_told_before_the_body_is_read(scheme: str, headers: dict[str, str]) -> None:
    with pytest.raises(Unsigned):
        claim(signature(scheme), headers, NOW)


@pytest.mark.parametrize("made", [stripe, standard])
def test_a_signed_time_counts_for_five_minutes(made: Callable[[bytes, int], dict[str, str]]) -> None:
    scheme = "stripe" if made is stripe else "standard"
    signed = signature(scheme)
    for age in (0, signatures.FRESH_SECONDS, -signatures.AHEAD_SECONDS):
        assert claim(signed, made(b"", NOW - age), NOW).signatures
    for age in (signatures.FRESH_SECONDS + 1, -signatures.AHEAD_SECONDS - 1, NOW):
        with pytest.raises(Unsigned, match="too old"):
            claim(signed, made(b"", NOW - age), NOW)


def test_a_key_that_is_too_short_or_no_key_signs_nothing() -> None:
    for scheme, key in (("github", "short"), ("github", ""), ("standard", "whsec_short"), ("standard", "whsec_#")):
        with pytest.raises(ValueError, match=r"shorter|Standard"):
            key_bytes(signature(scheme), key)


# At the door


def signed(scheme: str, key: str = KEY, account: str = "ada") -> dict[str, Signature]:
    secret = Secret("env:HOOK", environ={"HOOK": key} if key else {})
    return {"deploy": signature(scheme, account=account, key=secret)}


async def hub(at: Hooked, body: bytes, key: str = KEY, **more: str) -> int:
    answer = await at.call(body, X_Hub_Signature_256=f"sha256={mac(body, key).hex()}", **more)
    return answer.status


async def test_a_signed_call_is_one_run_and_no_secret_opens_it(tmp_path: Path) -> None:
    async with hooked(tmp_path, signatures=signed("github")) as at:
        assert await hub(at, b'{"build": "red"}', Authorization="", X_GitHub_Delivery="d-1") == 202
        # The key of a delivery is not signed, so it makes what was caught and sent again no other call.
        assert await hub(at, b'{"build": "red"}', Authorization="", X_GitHub_Delivery="d-2") == 202
        for headers in ({}, {"X_Hub_Signature_256": f"sha256={'0' * 64}"}):
            refused = await at.call('{"build": "green"}', **headers)
            assert refused.status == 401
            assert "www-authenticate" not in refused.headers
        assert await hub(at, b'{"build": "green"}', KEY[::-1]) == 401
        await at.ada.settled()
        assert at.run_count() == 1


async def test_the_signature_is_checked_before_the_body_is_understood_and_after_its_size(tmp_path: Path) -> None:
    async with hooked(tmp_path, signatures=signed("github")) as at:
        assert await hub(at, b"{broken", KEY[::-1], Content_Type="application/json") == 401
        assert await hub(at, b"{broken", Content_Type="application/json") == 400
        assert await hub(at, b"x" * 1001) == 413
        # Without a signature in the headers nothing of the body is waited for.
        head = b"POST /hooks/ada/deploy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\nConnection: close\r\n\r\n"
        assert (await at.raw(head)).startswith(b"HTTP/1.1 401")
        await at.ada.settled()
        assert at.run_count() == 0


async def test_what_was_caught_on_the_way_does_nothing_a_second_time(tmp_path: Path) -> None:
    async with hooked(tmp_path, signatures=signed("stripe")) as at:
        body, at_once = b'{"paid": true}', int(time.time())
        first = await at.call(body, **spelled(stripe(body, at_once)))
        again = await at.call(body, Idempotency_Key="another", **spelled(stripe(body, at_once)))
        assert (first.status, again.said) == (202, {"run": first.said["run"], "state": "again"})
        assert (await at.call(body, **spelled(stripe(body, at_once - 400)))).status == 401
        await at.ada.settled()
        assert at.run_count() == 1


def spelled(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}


async def test_a_signed_id_is_the_key_of_the_call(tmp_path: Path) -> None:
    key = "whsec_" + base64.b64encode(KEY.encode()).decode()
    async with hooked(tmp_path, signatures=signed("standard", key)) as at:
        now = int(time.time())
        first = await at.call(b"{}", **spelled(standard(b"{}", now, "msg_1")))
        second = await at.call(b"{}", **spelled(standard(b"{}", now, "msg_2")))
        assert (first.status, second.status) == (202, 202)
        assert first.said["run"] != second.said["run"]
        await at.ada.settled()


@pytest.mark.parametrize("key", ["", "short"])
async def test_a_key_that_cannot_be_used_is_the_owners_affair(
    tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with hooked(tmp_path, signatures=signed("github", key)) as at:
        assert await hub(at, b"{}") == 503
        [said] = [record for record in caplog.records if "signature cannot be used" in record.message]
        assert said.levelname == "ERROR"
        assert at.run_count() == 0


async def test_a_signature_is_of_one_account_and_guesses_are_slowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hooked(tmp_path, signatures=signed("github", account="bob")) as at:
        assert (await at.call("by secret")).status == 202  # ada's webhook of this name has a secret, as ever
        assert (await at.call("x", "/hooks/bob/deploy", X_Hub_Signature_256="sha256=" + "0" * 64)).status == 404
        await at.ada.settled()
    waits: list[float] = []

    async def noted(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(webhooks, "delay", noted)
    async with hooked(tmp_path / "more", signatures=signed("github")) as at:
        for _ in range(3):
            await hub(at, b"{}", KEY[::-1])
        assert waits == sorted(waits)
        assert waits[0] < waits[2]
