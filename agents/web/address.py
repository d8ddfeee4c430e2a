"""Which web addresses may be reached: the reading of a URL, and the judging of what its host resolves to.

The rule: what is judged is the address that is then connected to, never the name; an address that stands for another
(IPv4 inside IPv6, translation prefixes) is judged as what it leads to. What is not plainly public is refused.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
MAX_URL: Final = 2000
PORTS: Final = {"http": 80, "https": 443}
_FIRST_FREE_PORT: Final = 1024
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_NEVER_PUBLIC: Final = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "3fff::/20", "5f00::/16"))
)
"""Special prefixes that Python's own list holds in some versions only."""
_HOST: Final = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?"
)


class Refused(Exception):
    """A page that is not had; `why` is a whole sentence without its full stop. `foreign`: it names what others wrote
    (where a page led to).
    """

    def __init__(self, why: str, foreign: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.foreign = foreign


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart. `host` is in ASCII and lower case, without brackets; `path` holds path and query, encoded."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """Host and port as the Host field has them (RFC 9110 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def read(url: str) -> Target:
    """A URL as what is asked for. Raises Refused."""
    if len(url) > MAX_URL:
        raise Refused(f"the address is longer than {MAX_URL} characters")
    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise Refused("the address holds a blank or a control character")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused("this is no address of a web page") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise Refused("only addresses with http:// or https:// are fetched")
    if parts.username is not None or parts.password is not None:
        raise Refused("an address with a name or password in it is not fetched")
    host = _host(parts.hostname or "")
    number = PORTS[scheme] if port is None else port
    if number < _FIRST_FREE_PORT and number not in PORTS.values():
        raise Refused(f"port {number} does not belong to the web")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return Target(scheme, host, number, urlunsplit(("", "", path if path.startswith("/") else f"/{path}", query, "")))


def _host(name: str) -> str:
    if ":" in name:
        try:
            return str(ipaddress.IPv6Address(name.partition("%")[0]))
        except ValueError:
            raise Refused("this is no address of a web page") from None
    try:
        host = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise Refused("the host of this address is no host name") from None
    if _HOST.fullmatch(host) is None:
        raise Refused("the host of this address is no host name")
    return host.rstrip(".")


def is_public(address: IpAddress) -> bool:
    """Whether an address is somewhere on the public internet, and is not one that leads to another kind of place."""
    inner = _inner(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, ipaddress.IPv6Address) and (address.is_site_local or address.teredo is not None):
        return False
    if any(network.version == address.version and address in network for network in _NEVER_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _inner(address: IpAddress) -> IpAddress | None:
    """The IPv4 address that an IPv6 address stands for: mapped, 6to4, NAT64, or the old "compatible" form."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 0xFFFF):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


@dataclass(frozen=True, slots=True)
class Allowed:
    """Private places that may be reached all the same: host names, and networks (an address is a network of one)."""

    names: frozenset[str] = frozenset()
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> "Allowed":
        """From settings: "printer.lan", "192.168.1.20", "10.0.0.0/8". What is no network is a name."""
        names, networks = set(), []
        for entry in entries:
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                names.add(entry.lower().rstrip("."))
        return cls(frozenset(names), tuple(networks))

    def holds(self, host: str, address: IpAddress) -> bool:
        inner = _inner(address) or address
        return host in self.names or any(
            inner in network for network in self.networks if network.version == inner.version
        )


def reachable(host: str, found: Sequence[IpAddress], allowed: Allowed) -> IpAddress:
    """The address of a host to connect to. Raises Refused when even one of them is not public: a name that points both
    outside and inside is a trick.
    """
    if not found:
        raise Refused(f"{host} has no address")
    for address in found:
        if not is_public(address) and not allowed.holds(host, address):
            raise Refused(f"{host} leads to {address}, which is not a place on the public internet")
    return found[0]
