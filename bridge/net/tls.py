"""Certificates of our own: a local authority that users trust once, and a server certificate that it signs.

The rule: the authority can only vouch for this machine, private networks and the configured names (critical name
constraints), its key never leaves the data folder (mode 0600), and the server certificate is renewed before any client
complains: when names change and when it nears its end. `cryptography` is imported only to make a certificate.
"""

import hashlib
import json
import logging
import os
import ssl
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ALWAYS: Final = ("localhost", "127.0.0.1", "::1")
DAY: Final = 86_400
RENEW_BEFORE: Final = 30 * DAY

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Certificates:
    """`ca_file` is what clients are to trust; `context` serves TLS 1.2 and later. `home` and `names` serve `renew`."""

    ca_file: Path
    context: ssl.SSLContext
    home: Path
    names: tuple[str, ...]

    def renew(self, now: float | None = None) -> bool:
        """Renew the server certificate when it is time; new connections use it at once. To be called daily."""
        if not _make_what_is_missing(self.home / "tls", self.names, time.time() if now is None else now):
            return False
        self.context.load_cert_chain(self.home / "tls" / "server.pem")
        return True


def ensure_certificates(home: Path, names: Iterable[str] = (), *, now: float | None = None) -> Certificates:
    """The certificates in `home`/tls, made or renewed as needed (10 ms; nothing to do: 1 ms).

    `names` are host names and addresses beside localhost, 127.0.0.1 and ::1 that clients connect to.
    """
    wanted = _normal(names)
    folder = home / "tls"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_what_is_missing(folder, wanted, time.time() if now is None else now)
    return Certificates(folder / "ca.pem", server_context(folder / "server.pem"), home, wanted)


def server_context(chain_and_key: Path) -> ssl.SSLContext:
    """A server's context: TLS 1.2 and later, no renegotiation, no compression."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(chain_and_key)
    return context


def _normal(names: Iterable[str]) -> tuple[str, ...]:
    """The names in one order and spelling; the three of this machine first."""
    cleaned = {name.strip().rstrip(".").lower() for name in names} - {""}
    return (*ALWAYS, *sorted(cleaned - set(ALWAYS)))


def _make_what_is_missing(folder: Path, names: Sequence[str], now: float) -> bool:
    """Bring the folder up to date; True when something was made."""
    if _is_current(folder, names, now):
        return False
    from bridge.net import authority  # brings cryptography: 9 MB and 60 ms that a running server does without

    ca = authority.load(folder, now)
    if ca is None or not ca.covers(names):
        ca = authority.create(names, now)
        _write(folder / "ca.key", ca.key_pem, 0o600)
        _write(folder / "ca.pem", ca.certificate_pem, 0o644)
        log.warning("made a new certificate authority: mail clients have to trust %s", folder / "ca.pem")
    leaf = ca.issue(names, now)
    _write(folder / "server.pem", leaf.pem, 0o600)
    _write(folder / "server.json", json.dumps(_note(folder, names, leaf.not_after)).encode(), 0o600)
    return True


def _is_current(folder: Path, names: Sequence[str], now: float) -> bool:
    """Whether the files on disk are the ones we noted, for these names, and still good for a while."""
    try:
        note = json.loads((folder / "server.json").read_bytes())
        not_after = float(note["not_after"])
        return bool(note == _note(folder, names, not_after)) and now < not_after - RENEW_BEFORE
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _note(folder: Path, names: Sequence[str], not_after: float) -> dict[str, object]:
    return {
        "names": list(names),
        "not_after": not_after,
        "files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("ca.pem", "server.pem")},
    }


def _write(path: Path, data: bytes, mode: int) -> None:
    """Replace a file whole: a crash leaves the old one or the new one. The mode holds from the first byte."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
