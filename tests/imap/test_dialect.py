"""The merged language: clashes, unmet needs and empty announcements are refused; settings choose; states decide."""

from dataclasses import replace
from typing import Any

import pytest

from bridge.imap.base import BASE
from bridge.imap.command import Command, Done, Traits, nothing
from bridge.imap.dialect import DialectError, Extension, Standing, announces, merge
from bridge.imap.ext import idle, list_status, uidplus
from bridge.imap.pipeline import NOTHING, News, news_after
from bridge.imap.registry import EXTENSIONS, dialect_for
from bridge.imap.states import ANY, State
from config.settings import Imap


async def _run(session: object, _: None) -> Done:
    return Done("done")


def command(name: bytes, traits: Traits = Traits()) -> Command[None]:  # noqa: B008 - frozen
    return Command(name, ANY, nothing, _run, traits)


def test_two_extensions_with_one_command_are_refused() -> None:
    twice = Extension("X-ONE", commands=(command(b"NOOP"),))
    with pytest.raises(DialectError, match="command NOOP is given by both IMAP4rev1 and X-ONE"):
        merge([BASE, twice])


def test_an_extension_registered_twice_is_refused() -> None:
    with pytest.raises(DialectError, match="IDLE is registered twice"):
        merge([BASE, idle.EXTENSION, idle.EXTENSION])


def test_an_unmet_need_is_refused() -> None:
    with pytest.raises(DialectError, match="LIST-STATUS needs LIST-EXTENDED"):
        merge([BASE, list_status.EXTENSION])


def test_a_capability_that_nobody_serves_is_refused() -> None:
    with pytest.raises(DialectError, match="X-EMPTY is announced, but nothing serves it"):
        merge([BASE, Extension("X-EMPTY", announce=announces(b"X-EMPTY"))])


@pytest.mark.parametrize("table", ["status_items", "list_returns", "list_selections", "fetch_items", "search_keys"])
def test_every_table_refuses_a_clash(table: str) -> None:
    full = dialect_for(Imap(extensions="all")).extensions
    owner = next(extension for extension in full if getattr(extension, table))
    changes: dict[str, Any] = {table: (replace(getattr(owner, table)[0]),)}
    clash = replace(Extension("X-CLASH"), **changes)
    with pytest.raises(DialectError, match=f"both {owner.name} and X-CLASH".replace("+", r"\+")):
        merge([*full, clash])


def test_settings_choose_the_extensions() -> None:
    chosen = dialect_for(Imap(extensions=("idle", "UIDPLUS"))).extensions
    assert [extension.name for extension in chosen] == ["IMAP4rev1", "IDLE", "UIDPLUS"]
    assert len(dialect_for(Imap(extensions="all")).extensions) == len(EXTENSIONS) + 1
    with pytest.raises(DialectError, match="no such IMAP extension: NONSENSE"):
        dialect_for(Imap(extensions=("NONSENSE",)))


def test_without_uidplus_no_codes_and_no_command() -> None:
    dialect = dialect_for(Imap(extensions=("IDLE",)))
    assert not dialect.has(next(iter(uidplus.EXTENSION.features)))
    assert b"UID EXPUNGE" not in dialect.commands


def test_before_tls_only_what_is_of_use_is_announced() -> None:
    dialect = dialect_for(Imap())
    clear = Standing(State.FRESH, secure=False, tls_possible=True, append_limit=1, message_limit=1)
    assert dialect.capabilities(clear) == (b"IMAP4rev1", b"LOGINDISABLED", b"STARTTLS", b"LITERAL+", b"ID")
    secure = dialect.capabilities(replace(clear, secure=True, tls_possible=False))
    assert {b"AUTH=PLAIN", b"AUTH=LOGIN", b"IDLE", b"APPENDLIMIT=1"} <= set(secure)
    assert not {b"STARTTLS", b"LOGINDISABLED"} & set(secure)
    ready = dialect.capabilities(replace(clear, state=State.READY, secure=True))
    assert not {b"AUTH=PLAIN", b"AUTH=LOGIN", b"STARTTLS"} & set(ready)


COUNTS = command(b"COUNTS", Traits(uses_numbers=True, tells_gone=False))
PLAIN = command(b"PLAIN")
BREAKS = command(b"BREAKS", Traits(uses_numbers=True, breaks_numbers=True))
OPENS = command(b"OPENS", Traits(changes_mailbox=True))


def test_traits_decide_what_is_told() -> None:
    assert news_after(PLAIN, None) == News(any=True, gone=True)
    assert news_after(PLAIN, COUNTS) == News(any=True, gone=False)
    assert news_after(PLAIN, PLAIN) == News(any=True, gone=True)
    assert news_after(COUNTS, None) == News(any=True, gone=False)
    assert news_after(BREAKS, COUNTS) == News(any=True, gone=True, forced=True)
    assert news_after(OPENS, None) == NOTHING


def test_the_traits_of_the_real_commands() -> None:
    commands = dialect_for(Imap(extensions="all")).commands
    withheld = {name for name, each in commands.items() if not news_after(each, None).gone}
    assert {b"FETCH", b"STORE", b"SEARCH", b"SORT", b"THREAD"} <= withheld
    assert not {b"UID FETCH", b"UID STORE", b"UID SEARCH", b"NOOP", b"COPY", b"EXPUNGE", b"MOVE"} & withheld
    counting = {name for name, each in commands.items() if each.traits.uses_numbers}
    assert counting == {b"FETCH", b"STORE", b"SEARCH", b"SORT", b"THREAD", b"COPY", b"MOVE", b"REPLACE"}
