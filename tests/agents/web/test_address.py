"""Which addresses may be reached: judged as what they lead to, in every spelling."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.web.address import Allowed, Refused, is_public, reachable, read

PRIVATE = """
    127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 100.64.0.1 192.0.2.1 198.18.0.1 224.0.0.1
    240.0.0.1 255.255.255.255 ::1 :: fe80::1 fd00:ec2::254 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254
    ::127.0.0.1 64:ff9b::a00:1 2002:7f00:1:: 2002:a9fe:a9fe:: 2001:0:53aa:64c::1 2001:db8::1
    64:ff9b:1::a00:1 3fff::1 5f00::1 192.0.0.8 192.88.99.1 ::ffff:0:127.0.0.1
""".split()
PUBLIC = "8.8.8.8 1.1.1.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1".split()


@pytest.mark.parametrize("text", PRIVATE)
def test_private_places_are_known_in_every_disguise(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_public_places_are_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_itself(inner: ipaddress.IPv4Address) -> None:
    for outer in (0xFFFF << 32, 0x0064_FF9B << 96):
        assert is_public(ipaddress.IPv6Address(outer | int(inner))) == is_public(inner)


def test_a_name_that_points_inside_and_outside_is_refused() -> None:
    found = [ipaddress.ip_address("8.8.8.8"), ipaddress.ip_address("10.0.0.1")]
    with pytest.raises(Refused, match=r"leads to 10\.0\.0\.1"):
        reachable("twofaced.example", found, Allowed())


def test_private_places_that_are_allowed_are_reached_and_only_those() -> None:
    allowed = Allowed.of(["printer.lan", "192.168.1.0/24", "::1"])
    inside = ipaddress.ip_address("10.0.0.9")
    assert reachable("printer.lan", [inside], allowed) == inside
    near = ipaddress.ip_address("192.168.1.7")
    assert reachable("any.example", [near], allowed) == near
    mapped = ipaddress.ip_address("::ffff:192.168.1.7")
    assert reachable("any.example", [mapped], allowed) == mapped
    with pytest.raises(Refused):
        reachable("other.lan", [inside], allowed)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/", "only addresses with http"),
        ("file:///etc/passwd", "only addresses with http"),
        ("javascript:alert(1)", "only addresses with http"),
        ("//example.org/", "only addresses with http"),
        ("http://user:secret@example.org/", "a name or password"),
        ("http://user@example.org/", "a name or password"),
        ("http://example.org:25/", "port 25"),
        ("http://example.org:99999/", "no address of a web page"),
        ("http://exa mple.org/", "a blank or a control character"),
        ("http://example.org/a\r\nHost: evil", "a blank or a control character"),
        ("http:///path", "no host name"),
        ("http://[::1/", "no address of a web page"),
        ("http://[fe80::zz]/", "no address of a web page"),
        ("http://-bad-.example/", "no host name"),
        (f"http://example.org/{'a' * 2000}", "longer than"),
        ("http://" + "a" * 70 + ".example/", "no host name"),
    ],
)
def test_urls_that_are_not_fetched(url: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        read(url)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org.:443/a b?q=ü#part".replace(" ", "%20"), "https://example.org/a%20b?q=%C3%BC"),
        ("http://bücher.example/é", "http://xn--bcher-kva.example/%C3%A9"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://0x7f.1/", "http://0x7f.1/"),
        ("http://2130706433/", "http://2130706433/"),
    ],
)
def test_urls_are_read_into_one_spelling(url: str, target: str) -> None:
    assert read(url).url == target
