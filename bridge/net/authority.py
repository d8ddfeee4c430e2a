"""The local certificate authority: makes itself, and signs the server certificate (RFC 5280).

The rule: everything that `cryptography` is needed for is here, so that importing this module is what costs.
"""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CA_DAYS: Final = 3650
LEAF_DAYS: Final = 820  # Apple's limit for a certificate of a private authority is 825
BACKDATED: Final = datetime.timedelta(days=1)  # a client whose clock is a little late must not refuse
PRIVATE_NETWORKS: Final = (
    "127.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A server certificate with its chain and key as one PEM; `not_after` in seconds since 1970."""

    pem: bytes
    not_after: float


@dataclass(frozen=True, slots=True)
class Authority:
    """The authority's certificate and key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """The certificate, for clients to trust."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key, for a file of mode 0600."""
        return _key_pem(self.key)

    def covers(self, names: Sequence[str]) -> bool:
        """Whether the name constraints allow all these names."""
        permitted = self.certificate.extensions.get_extension_for_class(x509.NameConstraints).value.permitted_subtrees
        return all(any(_within(_general(name), allowed) for allowed in permitted or ()) for name in names)

    def issue(self, names: Sequence[str], now: float) -> Leaf:
        """Sign a fresh server certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        start = _time(now)
        end = min(start + datetime.timedelta(days=LEAF_DAYS), self.certificate.not_valid_after_utc)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(_name("Postroom server"))
            .issuer_name(self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start - BACKDATED)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        pem = certificate.public_bytes(Encoding.PEM) + self.certificate_pem + _key_pem(key)
        return Leaf(pem, end.timestamp())


def load(folder: Path, now: float) -> Authority | None:
    """The authority kept in a folder; None when there is none, it cannot be read, or it ends within a year."""
    try:
        certificate = x509.load_pem_x509_certificate((folder / "ca.pem").read_bytes())
        key = load_pem_private_key((folder / "ca.key").read_bytes(), password=None)
    except (OSError, ValueError):
        return None
    fits = isinstance(key, ec.EllipticCurvePrivateKey) and key.public_key() == certificate.public_key()
    if not fits or certificate.not_valid_after_utc < _time(now) + datetime.timedelta(days=365):
        return None
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return Authority(certificate, key)


def create(names: Sequence[str], now: float) -> Authority:
    """A new authority that may vouch for these names, this machine and private networks."""
    key = ec.generate_private_key(ec.SECP256R1())
    networks = [x509.IPAddress(ipaddress.ip_network(network)) for network in PRIVATE_NETWORKS]
    permitted = networks + [_subtree(name) for name in names if not _in_networks(name)]
    start = _time(now)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_name(f"Postroom local authority {start:%Y-%m-%d}"))
        .issuer_name(_name(f"Postroom local authority {start:%Y-%m-%d}"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start - BACKDATED)
        .not_valid_after(start + datetime.timedelta(days=CA_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.NameConstraints(permitted_subtrees=permitted, excluded_subtrees=None), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general(name: str) -> x509.GeneralName:
    """A name as a certificate's subject alternative name holds it; a non-ASCII host name as punycode."""
    address = _address(name)
    return x509.DNSName(_ascii(name)) if address is None else x509.IPAddress(address)


def _subtree(name: str) -> x509.GeneralName:
    """A name as a name constraint holds it: an address is a network of one."""
    address = _address(name)
    return x509.DNSName(_ascii(name)) if address is None else x509.IPAddress(ipaddress.ip_network(address))


def _within(name: x509.GeneralName, allowed: x509.GeneralName) -> bool:
    if isinstance(name, x509.DNSName) and isinstance(allowed, x509.DNSName):
        return name.value == allowed.value or name.value.endswith("." + allowed.value)
    if isinstance(name, x509.IPAddress) and isinstance(allowed, x509.IPAddress):
        network = allowed.value
        assert isinstance(network, ipaddress.IPv4Network | ipaddress.IPv6Network)
        return name.value in network
    return False


def _in_networks(name: str) -> bool:
    address = _address(name)
    return address is not None and any(address in ipaddress.ip_network(network) for network in PRIVATE_NETWORKS)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _ascii(name: str) -> str:
    return name if name.isascii() else name.encode("idna").decode()


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _time(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)
