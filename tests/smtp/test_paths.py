"""Addresses of MAIL and RCPT as clients write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.smtp.paths import Path, PathError, parse_path, same_address


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("FROM:<alice@bridge.test>", Path("alice@bridge.test", {})),
        ("FROM: <alice@bridge.test> SIZE=10", Path("alice@bridge.test", {"SIZE": "10"})),
        ("from :  <a@b>  BODY=8bitmime SMTPUTF8", Path("a@b", {"BODY": "8bitmime", "SMTPUTF8": ""})),
        ("FROM:a@b SIZE=1", Path("a@b", {"SIZE": "1"})),
        ("FROM:<>", Path("", {})),
        ("FROM:< >", Path("", {})),
        ("FROM:<@relay.example,@two.example:a@b>", Path("a@b", {})),
        ('FROM:<"a b>c"@d.example>', Path('"a b>c"@d.example', {})),
        ('FROM:<"a\\"b"@d>', Path('"a\\"b"@d', {})),
        ("FROM:<a@[127.0.0.1]>", Path("a@[127.0.0.1]", {})),
        ("FROM:<a@[IPv6:::1]>", Path("a@[IPv6:::1]", {})),
        ("FROM:<jö@bücher.example> SMTPUTF8", Path("jö@bücher.example", {"SMTPUTF8": ""})),
        ("FROM:<postmaster>", Path("postmaster", {})),
        ("FROM:<a+b=c@d> AUTH=<>", Path("a+b=c@d", {"AUTH": "<>"})),
        ("FROM:<action+6f3kq@postroom.internal>", Path("action+6f3kq@postroom.internal", {})),
    ],
)
def test_smtp_02_forgiving_of_spaces_and_brackets(text: str, path: Path) -> None:
    assert parse_path("FROM", text) == path


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "TO:<a@b>",
        "FROM",
        "FROM:",
        "FROM:<a@b",
        "FROM:a@b>",
        "FROM:<a@b>SIZE=1",
        "FROM:<a@@b>",
        "FROM:<a@b@c>",
        "FROM:<a b@c>",
        "FROM:<<a@b>>",
        "FROM:<a@b> SIZE=",
        "FROM:<a@b> SIZE=1 SIZE=2",
        "FROM:<a@b> ?=1",
        "FROM:<a\x00b@c>",
        "FROM:<a@b,c@d>",
        'FROM:<"unclosed@b>',
    ],
)
def test_what_is_no_path_is_refused(text: str | None) -> None:
    with pytest.raises(PathError):
        parse_path("FROM", text)


def test_smtp_13_addresses_are_the_same_in_any_case_and_as_punycode() -> None:
    assert same_address("Alice@Bridge.Test", "alice@bridge.test")
    assert same_address("a@bücher.example", "A@xn--bcher-kva.example")
    assert same_address('"alice"@bridge.test', "alice@bridge.test")
    assert not same_address("alice@bridge.test", "alice@bridge.test.evil.example")
    assert not same_address("", "alice@bridge.test")
    assert not same_address("alicé@bridge.test", "alice@bridge.test")


@given(st.text(max_size=80))
def test_any_text_is_a_path_or_a_path_error(text: str) -> None:
    for argument in (text, f"FROM:{text}", f"FROM:<{text}>", f"FROM:<a@b> {text}"):
        try:
            path = parse_path("FROM", argument)
        except PathError:
            continue
        assert "\r" not in path.address
        assert "\n" not in path.address
        same_address(path.address, text)
