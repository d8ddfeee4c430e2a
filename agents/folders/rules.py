"""Which folders may be granted, and which names in them exist for agents.

The rule: a grant names one real folder, never a whole machine, home or another program's secrets, and no two grants of
an account share a file. Names are compared without regard to letter case, whatever the file system does.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

SUPPORTED: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")
"""Whether this system can walk a path without following links; without that no folder is granted."""

MAX_PATH: Final = 1000
MAX_DEPTH: Final = 32
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_CLOSED: Final = tuple(
    map(Path, "/bin /boot /dev /etc /lib /lib32 /lib64 /proc /run /sbin /sys /usr /System /private/etc".split())
)
"""Of these nothing is granted."""

_TOO_WIDE: Final = frozenset(
    map(
        Path,
        "/ /home /media /mnt /opt /root /srv /tmp /var /Applications /Library /Users /Volumes /private "
        "/private/tmp /private/var".split(),
    )
)
"""Folders in these may be granted, they themselves not."""

_SECRETS: Final = tuple(
    "id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.kdb *.ovpn *.asc *.gpg "
    "*.age *.ppk credentials credentials.* secret.* secrets.* passwords.* wallet.dat _netrc".split()
)


class NotGranted(Exception):
    """A folder that is not granted, or a name that is not for agents; `why` is a whole sentence without its full
    stop.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def folded(name: str) -> str:
    """A name as it is compared: case and composition make no difference."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def is_hidden(name: str) -> bool:
    """Whether a name is not for agents: hidden, or the usual name of a secret."""
    plain = folded(name)
    return plain.startswith(".") or any(fnmatchcase(plain, pattern) for pattern in _SECRETS)


def checked(path: str, data_folder: Path, taken: Iterable[Path]) -> Path:
    """The real folder of a path, fit to be granted beside those `taken`. Raises NotGranted."""
    if not SUPPORTED:
        raise NotGranted("this system cannot open folders safely enough to grant one")
    given = Path(path).expanduser()
    if not given.is_absolute():
        raise NotGranted(f"{path} is not a whole path; write it from the root")
    try:
        real = Path(os.path.realpath(given, strict=True))
        info = real.stat()
    except (OSError, ValueError):
        raise NotGranted(f"{path} is not there, or cannot be looked at") from None
    if not stat.S_ISDIR(info.st_mode):
        raise NotGranted(f"{path} is not a folder")
    _refuse_place(real, data_folder)
    for other in taken:
        _refuse_overlap(real, other)
    return real


def _refuse_place(real: Path, data_folder: Path) -> None:
    if real in _TOO_WIDE or any(_holds(closed, real) for closed in _CLOSED):
        raise NotGranted(f"{real} belongs to the system; grant a folder of your own")
    if _holds(real, Path.home()):
        raise NotGranted(f"{real} holds your whole home; grant a folder in it")
    if hidden := [part for part in real.parts[1:] if is_hidden(part)]:
        raise NotGranted(f"{real} is hidden, or named like a secret ({hidden[0]})")
    if _holds(real, data_folder) or _holds(data_folder, real):
        raise NotGranted(f"{real} holds Postroom's own data, or is part of it")


def _refuse_overlap(real: Path, other: Path) -> None:
    """Two grants on one file would leave open which of them holds: by path in any spelling, and by what is really
    there (a folder can be mounted in two places).
    """
    if _holds(real, other) or _holds(other, real) or _is_mounted_in(real, other) or _is_mounted_in(other, real):
        raise NotGranted(f"{real} overlaps {other}, which is granted already; revoke that first")


def _holds(outer: Path, inner: Path) -> bool:
    wide, deep = [folded(part) for part in outer.parts], [folded(part) for part in inner.parts]
    return deep[: len(wide)] == wide


def _is_mounted_in(outer: Path, inner: Path) -> bool:
    """Whether `outer`, or what stands in its place, is on the way to `inner`."""
    try:
        mark = outer.stat()
    except OSError:
        return False
    return any((info.st_dev, info.st_ino) == (mark.st_dev, mark.st_ino) for info in _way(inner))


def _way(path: Path) -> Iterator[os.stat_result]:
    for place in (path, *path.parents):
        try:
            yield place.stat()
        except OSError:
            continue


def parts(path: str) -> tuple[str, ...]:
    """The names on the way to a file, from a path as an agent writes it ("notes/2026/plan.md"). Raises NotGranted."""
    if len(path) > MAX_PATH or any(ord(char) < 32 or ord(char) == 127 for char in path):
        raise NotGranted("the path is too long, or holds a control character")
    if "\\" in path or path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path):
        raise NotGranted("a path begins with the name of a granted folder and has / between its names")
    names = tuple(path.rstrip("/").split("/"))
    if len(names) > MAX_DEPTH:
        raise NotGranted(f"the path is deeper than {MAX_DEPTH} folders")
    if any(name in ("", ".", "..") for name in names):
        raise NotGranted("a path has no empty names, no . and no ..")
    if any(is_hidden(name) for name in names[1:]):
        raise NotGranted("hidden files, and files named like a secret, are not for agents")
    return names
