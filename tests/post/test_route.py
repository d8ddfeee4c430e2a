"""Addresses: what each stands for, and what is said about those that stand for nothing."""

import pytest

from bridge.post.route import Directory, ToAction, ToAgent, ToHelp, ToSkill, ToUser
from bridge.submissions import Refused

HERE = Directory(
    "postroom.internal",
    {"ada": 1, "ben": 2},
    frozenset({"assistant"}),
    frozenset({"summariser"}),
    frozenset({"demo", "haiku"}),
)


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("assistant@postroom.internal", ToAgent("assistant")),
        ("Assistant@PostRoom.Internal", ToAgent("assistant")),
        ("assistant+haiku@postroom.internal", ToAgent("assistant", "haiku")),
        ("summariser@postroom.internal", ToSkill("summariser")),
        ("action+ABC123@postroom.internal", ToAction("abc123")),
        ("ada@postroom.internal", ToUser(1)),
        ("help@postroom.internal", ToHelp()),
        ("postmaster@postroom.internal", ToHelp()),
    ],
)
def test_known(address: str, target: object) -> None:
    assert HERE.resolve(address) == target


@pytest.mark.parametrize(
    "address", ["nobody@postroom.internal", "action@postroom.internal", "action+@postroom.internal"]
)
def test_unknown_names_the_addresses_that_exist(address: str) -> None:
    refused = HERE.resolve(address)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.status) == (550, "5.1.1")
    assert "assistant@postroom.internal" in refused.text
    assert "summariser@postroom.internal" in refused.text


def test_unknown_model_names_the_tags() -> None:
    refused = HERE.resolve("assistant+gpt@postroom.internal")
    assert isinstance(refused, Refused)
    assert "demo, haiku" in refused.text


@pytest.mark.parametrize("address", ["maya@example.org", "assistant@postroom.internal.evil.example", "x@", "@x", ""])
def test_outside_is_refused_by_policy(address: str) -> None:
    refused = HERE.resolve(address)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.status) == (550, "5.7.1")
