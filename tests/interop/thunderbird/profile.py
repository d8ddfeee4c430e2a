"""A Thunderbird profile made from outside: account, trusted authority and stored password, nothing left to click.

Passwords are encrypted by NSS with the profile's own key4.db (no primary password), as Thunderbird itself would.
"""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

from tests.interop.support import ADDRESS, PASSWORD, USER, Postroom, clean_environment

LIBRARY = Path("/usr/lib/thunderbird/libnss3.so")

# Run in a process of its own: NSS is set up once a process, for one profile.
_ENCRYPT = r"""
import base64, ctypes, json, sys
profile, library = sys.argv[1:3]
class Item(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("data", ctypes.c_void_p), ("len", ctypes.c_uint)]
nss = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
nss.PK11_GetInternalKeySlot.restype = ctypes.c_void_p
nss.PK11_InitPin.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
nss.PK11_NeedUserInit.argtypes = [ctypes.c_void_p]
nss.PK11SDR_Encrypt.argtypes = [ctypes.POINTER(Item)] * 3 + [ctypes.c_void_p]
assert nss.NSS_InitReadWrite(("sql:" + profile).encode()) == 0, "NSS_InitReadWrite"
slot = nss.PK11_GetInternalKeySlot()
if nss.PK11_NeedUserInit(slot):
    assert nss.PK11_InitPin(slot, None, b"") == 0, "PK11_InitPin"
done = []
for text in json.load(sys.stdin):
    data = text.encode()
    buffer = ctypes.create_string_buffer(data, len(data))
    key, plain, out = Item(0, None, 0), Item(0, ctypes.cast(buffer, ctypes.c_void_p), len(data)), Item(0, None, 0)
    assert nss.PK11SDR_Encrypt(ctypes.byref(key), ctypes.byref(plain), ctypes.byref(out), None) == 0, "PK11SDR_Encrypt"
    done.append(base64.b64encode(ctypes.string_at(out.data, out.len)).decode())
nss.NSS_Shutdown()
print(json.dumps(done))
"""

_QUIET: dict[str, object] = {
    # No first-run pages, telemetry, updates, default-client question, notifications; no request leaves the machine.
    "mail.shell.checkDefaultClient": False,
    "mail.rights.version": 1,
    "mailnews.start_page.enabled": False,
    "mailnews.start_page_override.mstone": "ignore",
    "app.donation.eoy.version.viewed": 999,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.healthreport.uploadEnabled": False,
    "toolkit.telemetry.enabled": False,
    "app.update.enabled": False,
    "extensions.update.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "mail.inappnotifications.enabled": False,
    "mail.inappnotifications.url": "",
    "mail.spotlight.firstRunDone": True,
    "mail.spam.version": 1,
    "mail.provider.enabled": False,
    "mail.biff.show_alert": False,
    "mailnews.ui.threadpane.version": 100,
    "browser.region.network.url": "",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.manage-offline-status": False,
    "offline.autoDetect": False,
    "offline.startup_state": 2,
    "services.settings.server": "data:,",
    "mail.compose.autosave": False,
    "mail.warn_on_send_accel_key": False,
    "mailnews.reply_header_type": 1,
    "mail.startup.enabledMailCheckOnce": True,
    "security.sandbox.content.level": 0,
    "security.enterprise_roots.enabled": False,
    "marionette.port": 0,
}


def make_profile(folder: Path, server: Postroom, road: str) -> None:
    """Fill `folder` with a profile for this server; `road` is "tls" or "starttls"."""
    folder.mkdir(mode=0o700)
    preferences = _QUIET | _account(server, tls=road == "tls")
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
    (folder / "user.js").write_text("".join(lines))
    name, password = _encrypt(folder, [USER, PASSWORD])
    subprocess.run(
        ["certutil", "-A", "-d", f"sql:{folder}", "-n", "Postroom", "-t", "C,,", "-i", server.ca],
        check=True,
        timeout=30,
    )
    (folder / "logins.json").write_text(json.dumps(_logins(name, password)))


def _account(server: Postroom, *, tls: bool) -> dict[str, object]:
    """One IMAP account with its identity and SMTP server. Socket types: 3 is TLS, 2 STARTTLS."""
    socket_type = 3 if tls else 2
    return {
        "mail.accountmanager.accounts": "account1,account2",
        "mail.accountmanager.defaultaccount": "account1",
        "mail.accountmanager.localfoldersserver": "server2",
        "mail.account.account1.server": "server1",
        "mail.account.account1.identities": "id1",
        "mail.account.account2.server": "server2",
        "mail.account.lastKey": 2,
        "mail.server.server1.type": "imap",
        "mail.server.server1.hostname": "localhost",
        "mail.server.server1.port": server.imaps if tls else server.imap,
        "mail.server.server1.socketType": socket_type,
        "mail.server.server1.authMethod": 3,
        "mail.server.server1.userName": USER,
        "mail.server.server1.name": ADDRESS,
        "mail.server.server1.login_at_startup": True,
        "mail.server.server1.check_new_mail": True,
        "mail.server.server1.check_time": 1,
        "mail.server.server1.using_subscription": True,
        "mail.server.server1.timeout": 29,
        "mail.server.server2.type": "none",
        "mail.server.server2.hostname": "Local Folders",
        "mail.server.server2.userName": "nobody",
        "mail.server.server2.name": "Local Folders",
        "mail.identity.id1.fullName": "Ada",
        "mail.identity.id1.useremail": ADDRESS,
        "mail.identity.id1.valid": True,
        "mail.identity.id1.smtpServer": "smtp1",
        "mail.identity.id1.compose_html": False,
        "mail.identity.id1.reply_on_top": 1,
        "mail.smtpservers": "smtp1",
        "mail.smtp.defaultserver": "smtp1",
        "mail.smtpserver.smtp1.hostname": "localhost",
        "mail.smtpserver.smtp1.port": server.smtps if tls else server.smtp,
        "mail.smtpserver.smtp1.try_ssl": socket_type,
        "mail.smtpserver.smtp1.authMethod": 3,
        "mail.smtpserver.smtp1.username": USER,
        "mail.smtpserver.smtp1.type": "smtp",
    }


def _encrypt(folder: Path, texts: list[str]) -> list[str]:
    environment = clean_environment(folder) | {"LD_LIBRARY_PATH": os.fspath(LIBRARY.parent)}
    done = subprocess.run(
        [sys.executable, "-c", _ENCRYPT, folder, LIBRARY],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=environment,
    )
    encrypted: list[str] = json.loads(done.stdout)
    return encrypted


def _logins(name: str, password: str) -> dict[str, object]:
    now = int(time.time() * 1000)
    logins = [
        {
            "id": number,
            "hostname": f"{scheme}://localhost",
            "httpRealm": f"{scheme}://localhost",
            "formSubmitURL": None,
            "usernameField": "",
            "passwordField": "",
            "encryptedUsername": name,
            "encryptedPassword": password,
            "guid": f"{{{uuid.uuid4()}}}",
            "encType": 1,
            "timeCreated": now,
            "timeLastUsed": now,
            "timePasswordChanged": now,
            "timesUsed": 1,
            "syncCounter": 1,
            "everSynced": False,
            "encryptedUnknownFields": None,
        }
        for number, scheme in enumerate(("imap", "smtp"), 1)
    ]
    dismissed: dict[str, object] = {}
    return {
        "nextId": 3,
        "logins": logins,
        "potentiallyVulnerablePasswords": [],
        "dismissedBreachAlertsByLoginGUID": dismissed,
        "version": 3,
    }
