"""Secrets by reference, read on first use; no text form of a `Secret` ever holds its value.

A reference is `env:NAME`, `file:PATH` (a file of mode 0600 that belongs to the user) or `keyring:SERVICE/NAME`.
The value leaves only through `reveal()`, so that a reader can find every use of it.
"""

import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

REFERENCE: Final = re.compile(r"(?P<scheme>env|file|keyring):(?P<rest>.+)", re.DOTALL)
ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_SECRET_BYTES: Final = 64 * 1024


class SecretError(Exception):
    """A secret could not be read. `reference` and `fix` may be shown to the owner; neither holds the value."""

    def __init__(self, reference: str, message: str, fix: str) -> None:
        super().__init__(f"{reference}: {message}; {fix}")
        self.reference = reference
        self.message = message
        self.fix = fix


class Secret:
    """A reference to a secret value; equal when the references are."""

    __slots__ = ("_environ", "_folder", "_value", "reference")

    def __init__(self, reference: str, *, environ: Mapping[str, str], folder: Path | None = None) -> None:
        """`environ` serves `env:` references; a relative `file:` path is taken from `folder`."""
        problem = reference_fault(reference)
        if problem is not None:
            raise SecretError("(not a reference)", problem[0], problem[1])
        self.reference = reference
        self._environ = environ
        self._folder = folder
        self._value: str | None = None

    def reveal(self) -> str:
        """The value, read when first asked for. Raises SecretError."""
        if self._value is None:
            self._value = self._read()
        return self._value

    def revealed(self) -> str | None:
        """The value if it has been read already; redaction needs no other."""
        return self._value

    def _read(self) -> str:
        scheme, _, rest = self.reference.partition(":")
        if scheme == "env":
            return self._read_env(rest)
        if scheme == "file":
            return self._read_file(self._path(rest))
        return self._read_keyring(rest)

    def _path(self, rest: str) -> Path:
        path = Path(rest).expanduser()
        return path if self._folder is None else self._folder / path

    def _read_env(self, name: str) -> str:
        value = self._environ.get(name, "")
        return value or self._fail("is not set or empty", f"set the environment variable {name}")

    def _read_file(self, path: Path) -> str:
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            self._fail(f"cannot be read ({error.strerror})", "write the value into that file, mode 0600")
        try:
            self._check_private(os.fstat(descriptor), path)
            data = os.read(descriptor, MAX_SECRET_BYTES + 1)
        finally:
            os.close(descriptor)
        if len(data) > MAX_SECRET_BYTES:
            self._fail("is larger than 64 KiB", "name the file that holds only the secret")
        try:
            value = data.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            self._fail("is not UTF-8 text", "write the value as UTF-8 text")
        return value or self._fail("is empty", "write the value into that file")

    def _check_private(self, info: os.stat_result, path: Path) -> None:
        if not stat.S_ISREG(info.st_mode):
            self._fail("is not a plain file", "name a plain file of mode 0600")
        if sys.platform == "win32":
            return
        if info.st_uid != os.getuid():
            self._fail("belongs to another user", f"chown it to the user that runs Postroom: {path}")
        if info.st_mode & 0o077:
            self._fail(f"has mode {info.st_mode & 0o777:04o}, others can read it", f"chmod 600 {path}")

    def _read_keyring(self, rest: str) -> str:
        import keyring
        from keyring.errors import KeyringError

        service, _, name = rest.rpartition("/")
        fix = f"store it with: keyring set {service} {name}"
        try:
            value = keyring.get_password(service, name)
        except KeyringError as error:
            self._fail(f"the keyring failed ({type(error).__name__})", "unlock it, or use file: or env:")
        return value or self._fail("is not in the keyring", fix)

    def _fail(self, message: str, fix: str) -> NoReturn:
        raise SecretError(self.reference, message, fix)

    def __repr__(self) -> str:
        return f"Secret({self.reference})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reference == self.reference

    def __hash__(self) -> int:
        return hash(self.reference)

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: object) -> "Secret":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled")


def reference_fault(text: str) -> tuple[str, str] | None:
    """What is wrong with a reference and how to mend it, without repeating the text; None when it is well formed."""
    match = REFERENCE.fullmatch(text)
    if match is None:
        return (
            "a secret stands here in plain text",
            "put it in a file of mode 0600 and write file:PATH, or write env:NAME or keyring:SERVICE/NAME",
        )
    scheme, rest = match["scheme"], match["rest"]
    if scheme == "env" and ENV_NAME.fullmatch(rest) is None:
        return "env: is followed by something that is no variable name", "write env:NAME"
    if scheme == "keyring" and not all(rest.rpartition("/")[::2]):
        return "keyring: needs a service and a name", "write keyring:SERVICE/NAME"
    if "\0" in rest:
        return "the reference holds a NUL", "write it without"
    return None
