"""The web port over real HTTP: what it tells, whom it answers, what it never does."""

import asyncio
import json
import plistlib
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bridge.web.site import is_known_host, metrics
from tests.post.desk import Desk, desk


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "home") as made:
        yield made


async def get(house: Desk, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    assert house.app.ports is not None
    request = urllib.request.Request(f"http://127.0.0.1:{house.app.ports.web}{path}", headers=headers)

    def fetch() -> tuple[int, dict[str, str], bytes]:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read()

    return await asyncio.to_thread(fetch)


async def test_health_and_metrics(house: Desk) -> None:
    assert json.loads((await get(house, "/health"))[2]) == {"status": "ok"}
    await house.person("ada")
    text = (await get(house, "/metrics"))[2].decode()
    assert "postroom_accounts 1\n" in text
    assert "postroom_requests_open 0\n" in text


async def test_the_page_names_the_real_ports_and_loads_nothing(house: Desk) -> None:
    """autoconf-02, autoconf-04: what cannot be found by itself is set up by hand from here. reach-01: who cannot."""
    status, headers, page = await get(house, "/")
    assert status == 200
    assert house.app.ports is not None
    for port in (house.app.ports.imap, house.app.ports.imaps, house.app.ports.smtp, house.app.ports.smtps):
        assert f"<code>{port}</code>".encode() in page
    assert b"assistant@postroom.internal" in page
    assert b"src=" not in page
    assert b"Outlook (classic): choose manual set-up" in page
    assert b"The new Outlook and Outlook for phones" in page
    assert "default-src 'none'" in headers["content-security-policy"]


async def test_autoconf_thunderbird(house: Desk) -> None:
    """autoconf-01."""
    for path in (
        "/mail/config-v1.1.xml?emailaddress=ada@postroom.internal",
        "/.well-known/autoconfig/mail/config-v1.1.xml",
    ):
        root = ElementTree.fromstring((await get(house, path))[2])
        first = root.find("emailProvider/incomingServer")
        assert first is not None
        assert house.app.ports is not None
        assert (first.findtext("hostname"), first.findtext("port")) == ("localhost", str(house.app.ports.imaps))
        assert first.findtext("socketType") == "SSL"
        assert first.findtext("authentication") == "password-cleartext"


async def test_autoconf_apple_profile_has_account_and_authority_and_no_password(house: Desk) -> None:
    status, headers, data = await get(house, "/postroom.mobileconfig")
    assert status == 200
    assert headers["content-type"] == "application/x-apple-aspen-config"
    mail, root = plistlib.loads(data)["PayloadContent"]
    assert mail["IncomingMailServerUseSSL"] is True
    assert root["PayloadContent"].startswith(b"-----BEGIN CERTIFICATE-----")
    assert not [key for key in mail if key.endswith("Password") and "Same" not in key]


async def test_the_authority_can_be_fetched_and_its_key_cannot(house: Desk) -> None:
    assert (await get(house, "/ca.pem"))[2].startswith(b"-----BEGIN CERTIFICATE-----")
    for path in ("/ca.key", "/tls/ca.key", "/../tls/ca.key", "/%2e%2e/tls/ca.key"):
        assert (await get(house, path))[0] == 404


async def test_another_name_is_not_answered(house: Desk) -> None:
    status, _, body = await get(house, "/", Host="evil.example")
    assert status == 421
    assert b"imap" not in body.lower()


async def test_only_get_is_known(house: Desk) -> None:
    assert house.app.ports is not None
    request = urllib.request.Request(f"http://127.0.0.1:{house.app.ports.web}/", data=b"x", method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        await asyncio.to_thread(urllib.request.urlopen, request, timeout=10)
    assert refused.value.code == 405
    refused.value.close()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8025", "127.0.0.1:1", "[::1]:8025", "postroom.internal"])
def test_known_hosts(host: str) -> None:
    assert is_known_host(host, frozenset({"localhost", "postroom.internal"}))


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "10.0.0.1", "[::", "a@b", "127.0.0.1.evil"]
)
def test_unknown_hosts(host: str) -> None:
    assert not is_known_host(host, frozenset({"localhost"}))


def test_metrics_format() -> None:
    assert metrics({"b": 2, "a": 1}) == "# TYPE postroom_a gauge\npostroom_a 1\n# TYPE postroom_b gauge\npostroom_b 2\n"
