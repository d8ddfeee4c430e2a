"""What one check of the doctor found, in words for whoever runs the machine."""

from dataclasses import dataclass
from typing import Literal

from config.secrets import Secret, SecretError

FoundState = Literal["ok", "note", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was found, and for a note or a fault what to do."""

    check: str
    state: FoundState
    found: str
    fix: str = ""


def secret_fault(secret: Secret | None) -> tuple[str, str] | None:
    """Why a secret cannot be read, and what to do; None when it can, or when there is none."""
    try:
        if secret is not None:
            secret.reveal()
    except SecretError as error:
        return f"{error.reference} {error.message}", error.fix
    return None


def short(error: Exception) -> str:
    """An error on one line, without what a server may have echoed at length."""
    return " ".join(str(error).split())[:200] or type(error).__name__
