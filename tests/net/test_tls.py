"""The local authority and the server certificate, looked at by Python's ssl and by openssl, over real sockets."""

import asyncio
import ssl
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from bridge.net.tls import Certificates, ensure_certificates

DAY = 86_400
NOW = 1_796_000_000.0  # a day in 2026


@pytest.fixture
def made(tmp_path: Path) -> Certificates:
    return ensure_certificates(tmp_path, ["mail.home.example", "192.168.7.9"])


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


async def handshake(made: Certificates, name: str, trust: ssl.SSLContext) -> str:
    """Connect to a server with these certificates as if it were called `name`; the TLS version that came out."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=made.context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname=name)
        version = writer.get_extra_info("ssl_object").version()
        writer.close()
        await writer.wait_closed()
        await reader.read()
    return str(version)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "mail.home.example", "192.168.7.9"])
async def test_tls_04_every_name_is_in_the_certificate(made: Certificates, name: str) -> None:
    trust = ssl.create_default_context(cafile=made.ca_file)
    assert await handshake(made, name, trust) in ("TLSv1.2", "TLSv1.3")


async def test_another_name_is_not_ours(made: Certificates) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await handshake(made, "bank.example", ssl.create_default_context(cafile=made.ca_file))


async def test_nobody_who_did_not_choose_to_trusts_us(made: Certificates) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await handshake(made, "localhost", ssl.create_default_context())


async def test_old_tls_is_refused(made: Certificates) -> None:
    # req rfc9051/11.1-tls
    assert made.context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_the_server_certificate_is_what_clients_ask_for(made: Certificates) -> None:
    leaf = read(made.home / "tls" / "server.pem")
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    lifetime = leaf.not_valid_after_utc - leaf.not_valid_before_utc
    assert lifetime.days <= 825


def test_the_authority_is_bound_to_private_names_and_its_key_is_private(made: Certificates) -> None:
    ca = read(made.ca_file)
    constraints = ca.extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    names = {str(subtree.value) for subtree in constraints.value.permitted_subtrees or ()}
    assert {"localhost", "mail.home.example", "127.0.0.0/8", "::1/128", "192.168.0.0/16"} <= names
    assert not any(name in names for name in ("0.0.0.0/0", "::/0", "", "."))
    basic = ca.extensions.get_extension_for_class(x509.BasicConstraints)
    assert basic.critical
    assert basic.value.path_length == 0
    for secret in ("ca.key", "server.pem"):
        assert stat.S_IMODE((made.home / "tls" / secret).stat().st_mode) == 0o600


def test_a_certificate_of_the_authority_for_another_name_is_worth_nothing(made: Certificates, tmp_path: Path) -> None:
    """Even with the key stolen: the name constraints are what clients check."""
    from bridge.net import authority

    stolen = authority.load(made.home / "tls", NOW)
    assert stolen is not None
    forged = tmp_path / "forged.pem"
    forged.write_bytes(stolen.issue(["www.bank.example"], __import__("time").time()).pem)
    assert "permitted subtree violation" in openssl_verify(made.ca_file, forged, "www.bank.example")


def openssl_verify(ca: Path, leaf: Path, host: str) -> str:
    run = subprocess.run(
        ["openssl", "verify", "-purpose", "sslserver", "-verify_hostname", host, "-CAfile", ca, leaf],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout + run.stderr


def test_openssl_agrees(made: Certificates) -> None:
    assert "OK" in openssl_verify(made.ca_file, made.home / "tls" / "server.pem", "localhost")


def test_nothing_changes_while_nothing_has_to(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, now=NOW)
    before = {file.name: file.read_bytes() for file in (tmp_path / "tls").iterdir()}
    ensure_certificates(tmp_path, ["LOCALHOST.", " 127.0.0.1 "], now=NOW + 100 * DAY)
    assert not first.renew(NOW + 200 * DAY)
    assert {file.name: file.read_bytes() for file in (tmp_path / "tls").iterdir()} == before


def test_a_new_address_of_this_house_gets_a_new_leaf_from_the_same_authority(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, now=NOW)
    ca, leaf = first.ca_file.read_bytes(), (tmp_path / "tls" / "server.pem").read_bytes()
    ensure_certificates(tmp_path, ["192.168.1.20"], now=NOW)
    assert first.ca_file.read_bytes() == ca
    assert (tmp_path / "tls" / "server.pem").read_bytes() != leaf


def test_a_name_outside_the_constraints_needs_a_new_authority(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, now=NOW)
    ca = first.ca_file.read_bytes()
    second = ensure_certificates(tmp_path, ["mail.example.net"], now=NOW)
    assert second.ca_file.read_bytes() != ca
    assert "OK" in openssl_verify(second.ca_file, tmp_path / "tls" / "server.pem", "mail.example.net")


async def test_it_is_renewed_in_time_and_at_once_in_use(tmp_path: Path) -> None:
    import time

    now = time.time()
    made = ensure_certificates(tmp_path, now=now - 800 * DAY)
    old = read(tmp_path / "tls" / "server.pem").serial_number
    assert made.renew(now)
    renewed = read(tmp_path / "tls" / "server.pem").serial_number
    assert renewed != old
    trust = ssl.create_default_context(cafile=made.ca_file)
    assert await handshake(made, "localhost", trust)
    assert not made.renew(now)


@pytest.mark.parametrize("damage", ["ca.key", "ca.pem", "server.pem", "server.json"])
@pytest.mark.parametrize("how", ["gone", "garbled"])
def test_a_damaged_or_lost_file_is_made_again(tmp_path: Path, damage: str, how: str) -> None:
    ensure_certificates(tmp_path, now=NOW)
    victim = tmp_path / "tls" / damage
    if how == "gone":
        victim.unlink()
    else:
        victim.write_bytes(b"garbled")
    made = ensure_certificates(tmp_path, ["10.1.1.1"], now=NOW)
    folder = tmp_path / "tls"
    assert made.context.get_ciphers()
    assert read(made.ca_file).subject == read(folder / "server.pem").issuer
    read(folder / "server.pem").verify_directly_issued_by(read(made.ca_file))


def test_an_expiring_authority_is_replaced(tmp_path: Path) -> None:
    first = ensure_certificates(tmp_path, now=NOW)
    ca = first.ca_file.read_bytes()
    ensure_certificates(tmp_path, now=NOW + 3400 * DAY)
    assert first.ca_file.read_bytes() != ca
