"""Walking into a granted folder, and reading, listing and writing there.

The rule: every name on the way is opened in the folder opened before it, and no link is followed anywhere, so that what
was checked is what is used, whatever is swapped meanwhile. A file is written beside its place and put there whole.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from agents.folders.rules import NotGranted, folded, is_hidden

MAX_READ: Final = 20_000_000
MAX_WRITE: Final = 20_000_000
MAX_ENTRIES: Final = 500
_MAX_SCANNED: Final = 20_000
_FOLDER: Final = (
    os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
_FILE: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; `size` is in bytes, None for a folder."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a folder, folders first; `more` names were left out."""

    entries: tuple[Entry, ...]
    more: int


def listing(root: Path, names: Sequence[str]) -> Listing:
    """What agents may see in a folder. Raises NotGranted."""
    with _inside(root, names) as folder, os.scandir(folder) as found:
        entries: list[Entry] = []
        for number, each in enumerate(found):
            if number == _MAX_SCANNED:
                raise NotGranted(f"the folder has more than {_MAX_SCANNED:,} entries")
            if not is_hidden(each.name) and (entry := _entry(each)) is not None:
                entries.append(entry)
    entries.sort(key=lambda entry: (entry.size is not None, folded(entry.name)))
    return Listing(tuple(entries[:MAX_ENTRIES]), max(0, len(entries) - MAX_ENTRIES))


def _entry(each: "os.DirEntry[str]") -> Entry | None:
    """A folder or a plain file; links, pipes and devices are none, nor is what vanishes meanwhile."""
    try:
        if each.is_dir(follow_symlinks=False):
            return Entry(each.name, None)
        if each.is_file(follow_symlinks=False):
            return Entry(each.name, each.stat(follow_symlinks=False).st_size)
    except OSError:
        return None
    return None


def read(root: Path, names: Sequence[str]) -> bytes:
    """The bytes of a plain file. Raises NotGranted."""
    with _inside(root, names[:-1]) as folder, _plain(folder, names[-1]) as file:
        data = file.read(MAX_READ + 1)
    if len(data) > MAX_READ:
        raise NotGranted(f"{names[-1]} is larger than {MAX_READ:,} bytes")
    return data


def write(root: Path, names: Sequence[str], data: bytes, *, replace: bool, mark: str) -> None:
    """Put a file into its place, whole. Without `replace` nothing may stand there; with it a plain file must.

    `mark` makes the name of the file beside it, so that a try after a crash takes away what the crash left. Raises
    NotGranted.
    """
    if len(data) > MAX_WRITE:
        raise NotGranted(f"more than {MAX_WRITE:,} bytes are not written")
    with _inside(root, names[:-1]) as folder:
        name, beside = names[-1], f".postroom-{mark[:24]}.part"
        _may_stand(folder, name, replace, data)
        try:
            _put_beside(folder, beside, data)
            if replace:
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            else:
                _link(folder, beside, name, data)
            os.fsync(folder)
        except OSError as fault:
            raise _refused(name, fault) from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(beside, dir_fd=folder)


def _may_stand(folder: int, name: str, replace: bool, data: bytes) -> None:
    """Whether a file of this name may be put here. One that an interrupted try of the same call has put may."""
    with os.scandir(folder) as found:
        alike = [each.name for each in found if folded(each.name) == folded(name)]
    if other := [each for each in alike if each != name]:
        raise NotGranted(f"{other[0]} is there, whose name differs in nothing but letter case")
    if replace and not alike:
        raise NotGranted(f"{name} is not there, so it cannot be replaced")
    if replace and not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise NotGranted(f"{name} is no plain file")
    if alike and not replace and not _is(folder, name, data):
        raise NotGranted(f"{name} is there already; say that it is to be replaced, or choose another name")


def _is(folder: int, name: str, data: bytes) -> bool:
    """Whether a plain file with exactly these bytes stands here."""
    try:
        with _plain(folder, name) as file:
            return file.read(len(data) + 1) == data
    except NotGranted:
        return False


@contextlib.contextmanager
def _plain(folder: int, name: str) -> Iterator[BinaryIO]:
    """A plain file of a folder, opened for reading. Raises NotGranted."""
    try:
        opened = os.open(name, _FILE, dir_fd=folder)
    except OSError as fault:
        raise _refused(name, fault) from None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise NotGranted(f"{name} is no plain file")
    with open(opened, "rb") as file:
        yield file


def _put_beside(folder: int, beside: str, data: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=folder)
    opened = os.open(beside, _NEW, 0o600, dir_fd=folder)
    with open(opened, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _link(folder: int, beside: str, name: str, data: bytes) -> None:
    """Give the file its name unless something has taken it meanwhile."""
    try:
        os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        if not _is(folder, name, data):
            raise NotGranted(f"{name} is there already") from None


@contextlib.contextmanager
def _inside(root: Path, names: Sequence[str]) -> Iterator[int]:
    """The opened folder that the names lead to, from the root of the file system on."""
    here = os.open("/", _FOLDER)
    try:
        for name in (*root.parts[1:], *names):
            try:
                following = os.open(name, _FOLDER, dir_fd=here)
            except OSError as fault:
                raise _refused(name, fault) from None
            os.close(here)
            here = following
        yield here
    finally:
        os.close(here)


def _refused(name: str, fault: OSError) -> NotGranted:
    if fault.errno in (errno.ELOOP, errno.EMLINK):
        return NotGranted(f"{name} is a link, and links are not followed")
    if fault.errno == errno.ENOTDIR:
        return NotGranted(f"{name} is no folder, or a link")
    if fault.errno == errno.ENOENT:
        return NotGranted(f"{name} is not there")
    return NotGranted(f"{name} cannot be used ({os.strerror(fault.errno or 0)})")
