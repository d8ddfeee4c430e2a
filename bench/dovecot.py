"""A private Dovecot to compare with: Debian's dovecot-imapd, mailboxes as mdbox, on loopback, thrown away afterwards.

The rule: nothing of the machine's own Dovecot is read or touched: settings, user, mail and sockets lie in one folder.
"""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.client import Target
from bridge.net.tls import ensure_certificates

MISSING: Final = "Dovecot is not installed, so nothing is compared with it: apt-get install dovecot-imapd"
SECONDS: Final = 15.0
_USER: Final = "you"
_PASSWORD: Final = "bench-password"
_INTERNAL: Final = "dovecot"  # the system user that the package makes

_SETTINGS: Final = """\
base_dir = {folder}/run
log_path = {folder}/dovecot.log
protocols = imap
ssl = yes
ssl_cert = <{pem}
ssl_key = <{pem}
disable_plaintext_auth = no
mail_location = mdbox:{folder}/mail
mail_uid = {user}
mail_gid = {user}
first_valid_uid = 1
first_valid_gid = 1
default_internal_user = {user}
default_internal_group = {user}
default_login_user = {login}
mail_max_userip_connections = 2000
mdbox_rotate_size = 64M
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={user} home={folder}/home
}}
service imap-login {{
  inet_listener imap {{
    address = 127.0.0.1
    port = {port}
  }}
  inet_listener imaps {{
    address = 127.0.0.1
    port = {tls_port}
    ssl = yes
  }}
  service_count = 0
  client_limit = 4000
{chroot}}}
service imap {{
  process_limit = 2000
}}
service anvil {{
  client_limit = 8000
{chroot}}}
service stats {{
  client_limit = 8000
}}
"""


def program() -> str | None:
    """Where Dovecot is installed, if it is."""
    return shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def running(folder: Path, binary: str) -> Iterator[Target]:
    """Serve an empty account until the end of the block."""
    target, settings = _write(folder)
    with (folder / "output").open("wb") as output:
        server = subprocess.Popen([binary, "-F", "-c", str(settings)], stdout=output, stderr=output)
    try:
        _wait(target.port, server, folder)
        yield Target("Dovecot", target.port, target.tls_port, target.ca, target.user, target.password, server.pid)
    finally:
        server.terminate()
        server.wait(SECONDS)


def version(binary: str) -> str:
    """Its number: "2.3.19.1"."""
    told = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True)
    return told.stdout.split()[0]


def _write(folder: Path) -> tuple[Target, Path]:
    root = os.geteuid() == 0
    user = _INTERNAL if root else getpass.getuser()
    for name in ("run", "mail", "home"):
        (folder / name).mkdir(parents=True)
        if root:
            shutil.chown(folder / name, user, user)
    folder.chmod(0o755)
    certificates = ensure_certificates(folder)
    port, tls_port = _free_ports()
    settings = folder / "dovecot.conf"
    settings.write_text(
        _SETTINGS.format(
            folder=folder,
            pem=folder / "tls" / "server.pem",
            user=user,
            login="dovenull" if root else user,
            password=_PASSWORD,
            port=port,
            tls_port=tls_port,
            chroot="" if root else "  chroot =\n",
        )
    )
    return Target("Dovecot", port, tls_port, certificates.ca_file, _USER, _PASSWORD, 0), settings


def _free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on now."""
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(two.getsockname()[1])


def _wait(port: int, server: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    logs = [folder / name for name in ("output", "dovecot.log")]
    said = "".join(log.read_text() for log in logs if log.exists())
    raise RuntimeError(f"Dovecot did not start:\n{said}")
