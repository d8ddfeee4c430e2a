"""What stands after MAIL FROM and RCPT TO (RFC 5321 section 4.1.2), read forgivingly: clients do send all of this.

The rule: a path is one address and parameters, or a PathError; nothing of the peer is evaluated twice.
"""

import re
from dataclasses import dataclass
from typing import Final

_ROUTE: Final = r"(?:@[^\s<>,:]+(?:,@[^\s<>,:]+)*:)?"
_LOCAL: Final = r"(?:\"(?:[^\"\\\x00-\x1f\x7f]|\\[\x20-\x7e])*\"|[^\s<>\"@,;:\\\x00-\x1f\x7f]+)"
_DOMAIN: Final = r"(?:\[[0-9A-Za-z.:-]+\]|[^\s<>\"@,;:\\\[\]\x00-\x1f\x7f]+)"
_ADDRESS: Final = rf"(?P<local>{_LOCAL})(?:@(?P<domain>{_DOMAIN}))?"
_PATH: Final = re.compile(
    rf"\s*(?:<\s*(?:{_ROUTE}{_ADDRESS})?\s*>|{_ADDRESS.replace('?P<', '?P<bare_')})(?P<rest>.*)", re.DOTALL
)
_PARAMETER: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9-]*)(?:=(?P<value>[^\s=\x00-\x1f\x7f][^\s\x00-\x1f\x7f]*))?"
)


class PathError(Exception):
    """The path cannot be read."""


@dataclass(frozen=True, slots=True)
class Path:
    """One address ("" is the null sender) and the parameters after it, names in capitals ("" for no value)."""

    address: str
    parameters: dict[str, str]


def parse_path(keyword: str, argument: str | None) -> Path:
    """Read `FROM:<address> PARAM=VALUE ...`; `keyword` ("FROM" or "TO") in any case, with spaces around its colon."""
    start = re.match(rf"\s*{keyword}\s*:", argument or "", re.IGNORECASE)
    if argument is None or start is None:
        raise PathError(f"{keyword}:<address> is missing")
    match = _PATH.fullmatch(argument[start.end() :])
    if match is None or (match["rest"] and not match["rest"][0].isspace()):
        raise PathError("malformed address")
    local = match["local"] or match["bare_local"]
    domain = match["domain"] or match["bare_domain"]
    address = "" if local is None else local if domain is None else f"{local}@{domain}"
    return Path(address, _parameters(match["rest"]))


def same_address(one: str, other: str) -> bool:
    """Whether two addresses are the same mailbox here: case counts nowhere, a domain may be written as punycode."""
    return _folded(one) == _folded(other)


def _folded(address: str) -> str:
    local, _, domain = address.rpartition("@")
    if local.startswith('"') and local.endswith('"') and len(local) > 1:
        local = re.sub(r"\\(.)", r"\1", local[1:-1])
    try:
        domain = domain.encode("ascii").decode("idna")
    except UnicodeError:
        pass
    return f"{local}@{domain}".casefold()


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in text.split():
        match = _PARAMETER.fullmatch(word)
        if match is None or match["name"].upper() in found:
            raise PathError("malformed parameter")
        found[match["name"].upper()] = match["value"] or ""
    return found
