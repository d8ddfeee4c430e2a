"""The data folder: where it is, what is in it, and the lock that keeps it to one process.

Everything in it is the owner's alone: the folder 0700, its files 0600. A folder that others can read is made
private when it is empty or ours, and refused otherwise, because it may be somebody's home by mistake.
"""

import os
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

LOCK_NAME: Final = "postroom.lock"
OURS: Final = frozenset(
    {"postroom.toml", LOCK_NAME, "skills", "skills-off.json", "plugins", "tls", "secrets", ".mcp.json"}
)
LOCK_TRIES: Final = 10
LOCK_PAUSE_SECONDS: Final = 0.02
LOCKED_BYTE: Final = 1 << 20
"""On Windows a locked byte cannot be read by others, so the lock is taken far behind the process number."""


class FolderError(Exception):
    """The data folder cannot be used. `message` and `fix` are for the owner."""

    def __init__(self, folder: Path, message: str, fix: str) -> None:
        super().__init__(f"data folder {folder}: {message}; {fix}")
        self.folder = folder
        self.message = message
        self.fix = fix


class FolderLocked(FolderError):
    """Another process has the data folder; `pid` is its number, or None when it could not be read."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid is not None else "another process"
        fix = "stop it first (its owner sees it with `postroom status`), or name another folder with --home"
        super().__init__(folder, f"is in use by {holder}", fix)
        self.pid = pid


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The data folder and the places in it."""

    root: Path

    @property
    def config_file(self) -> Path:
        """The settings, if the owner wrote any."""
        return self.root / "postroom.toml"

    @property
    def lock_file(self) -> Path:
        """Holds the number of the process that has the folder."""
        return self.root / LOCK_NAME

    @property
    def control_socket(self) -> Path:
        """Where the command line talks to a running server."""
        return self.root / "postroom.sock"

    @property
    def tls(self) -> Path:
        """The local authority and the server's certificate."""
        return self.root / "tls"

    @property
    def skills(self) -> Path:
        """The user's own skills."""
        return self.root / "skills"

    @property
    def skills_off(self) -> Path:
        """Which skills are turned off."""
        return self.root / "skills-off.json"

    @property
    def plugins(self) -> Path:
        """The plugins that were imported, a folder each."""
        return self.root / "plugins"

    @property
    def mcp_file(self) -> Path:
        """The MCP servers, if the owner named any."""
        return self.root / ".mcp.json"


def usual_home() -> Path:
    """The platform's user data folder for Postroom."""
    from platformdirs import user_data_path

    return user_data_path("postroom", appauthor=False)


def open_folder(root: Path) -> DataFolder:
    """Make the data folder if it is missing and see that it is private. Raises FolderError."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = root.stat()
    except FileExistsError:
        raise FolderError(root, "is a file", "name a folder") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FolderError(root, f"cannot be made ({reason})", "name a folder you may write to with --home") from error
    if sys.platform != "win32":
        _check_private(root, info)
    return DataFolder(root)


def _check_private(root: Path, info: os.stat_result) -> None:
    if info.st_uid != os.getuid():
        raise FolderError(root, "belongs to another user", "name a folder of your own with --home")
    if not stat.S_IMODE(info.st_mode) & 0o077:
        return
    if not all(_is_ours(name) for name in os.listdir(root)):
        raise FolderError(
            root,
            f"has mode {stat.S_IMODE(info.st_mode):04o} and holds other things: others could read your mail",
            f"name a folder of its own, or: chmod 700 {root}",
        )
    root.chmod(0o700)


def _is_ours(name: str) -> bool:
    return name in OURS or name.startswith("postroom.")


def restrict_new_files() -> None:
    """From now on this process makes files of mode 0600 and folders of mode 0700, SQLite's own included."""
    os.umask(0o077)


def write_private(path: Path, data: bytes) -> None:
    """Write a file of mode 0600 so that a reader finds the old or the new bytes, never a part."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if sys.platform != "win32":
            temporary.chmod(0o600)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class FolderLock:
    """The lock on a data folder: held from construction until `release()` or the end of the process.

    The operating system drops it when the process dies, however it dies, so a stale lock does not exist.
    """

    def __init__(self, folder: DataFolder) -> None:
        """Raises FolderLocked when another process holds it."""
        self.folder = folder
        self._descriptor = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        if not self._acquire():
            pid = _read_pid(self._descriptor)
            os.close(self._descriptor)
            raise FolderLocked(folder.root, pid)
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def _acquire(self) -> bool:
        """Tries for a fifth of a second: `holder()` of another process takes the lock for an instant."""
        for _ in range(LOCK_TRIES):
            if _try_lock(self._descriptor):
                return True
            time.sleep(LOCK_PAUSE_SECONDS)
        return False

    def release(self) -> None:
        """Give the folder up; the file stays, because removing it would race with the next holder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, 32).strip()
    return int(text) if text.isdigit() else None


def holder(folder: DataFolder) -> int | None:
    """The number of the process that has the folder (0 when it cannot be read), or None when nobody has it."""
    try:
        descriptor = os.open(folder.lock_file, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        return None if _try_lock(descriptor) else _read_pid(descriptor) or 0
    finally:
        os.close(descriptor)
