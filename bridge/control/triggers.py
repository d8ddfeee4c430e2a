"""The triggers of an account: list them, look at one, say a word to one, and make those that are set off from outside.

The rule: a word from here does what the same word by mail does, and is audited alike. A secret is told in the answer of
the command that made it and nowhere else.
"""

import uuid
from dataclasses import dataclass
from typing import Final

from agents import trigger
from agents.automations import WORDS
from agents.rule import SpecFault
from agents.trigger import New, Trigger
from agents.wall import next_occurrence
from bridge import signatures
from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, REFUSED, Args, ControlError, Json
from bridge.control.who import chosen
from bridge.watched import owner_of
from mailstore import threads
from mailstore.model import Account
from mailstore.sqlite import WriteTx

OVERLAPS: Final = ("queue", "skip", "replace")


@dataclass(frozen=True, slots=True)
class Wish:
    """A trigger to be made: "webhook deploy", its task, and how."""

    spec: str
    task: str
    title: str
    agent: str
    overlap: str
    secret: str | None


async def listed(desk: StoreDesk, args: Args) -> Json:
    """Every schedule of an account that is not over."""
    account = chosen(desk, args.optional("account"))
    args.done()
    found = desk.store.read(lambda tx: trigger.of_account(tx, account.id))
    return {"account": account.name, "triggers": [_told(item) for item in found]}


async def show(desk: StoreDesk, args: Args) -> Json:
    """One schedule, with everything that is known of it."""
    account = chosen(desk, args.optional("account"))
    ident = args.text("id")
    args.done()
    item = desk.store.read(lambda tx: _named(trigger.of_account(tx, account.id), ident, account.name))
    following = next_occurrence(item.rule, item.tz, item.due_at - 1) if item.due_at else None
    upcoming = trigger.upcoming(item.rule, item.tz, following.at - 1) if following else ""
    policies = {"late": item.late, "overlap": item.overlap, "untrusted": item.taint}
    return {**_told(item), "text": item.text, "said": item.said, "upcoming": upcoming, **policies}


async def word(desk: Desk, args: Args) -> Json:
    """Say "run now", "pause", "resume" or "delete" to a schedule."""
    account = chosen(desk, args.optional("account"))
    ident, said = args.text("id"), args.text("word")
    args.done()
    if said not in WORDS:
        raise ControlError(BAD_REQUEST, f"{said!r} is no word for a schedule", f"one of {', '.join(WORDS)}")
    key = f"cli.{uuid.uuid4().hex}"
    kept = desk.runtime.automations
    told = await desk.store.write(
        lambda tx: kept.obey(tx, _named(kept.all(tx, account.id), ident, account.name), said, key)
    )
    return {"text": told}


async def add(desk: Desk, args: Args) -> Json:
    """Make a webhook, a mail hook or the watch of a mailbox, in a thread of its own."""
    account = chosen(desk, args.optional("account"))
    kind, name, task = args.text("kind"), args.text("name"), args.text("task").strip()
    wish = Wish(
        spec=f"{kind} {name}",
        task=task,
        title=" ".join((args.optional("title") or (task.splitlines() or [""])[0]).split())[:120],
        agent=args.optional("agent") or next(iter(desk.settings.agents)),
        overlap=args.optional("overlap") or OVERLAPS[0],
        secret=args.optional("secret"),
    )
    args.done()
    _check(desk, account, kind, name, wish)
    try:
        item, secret = await desk.store.write(lambda tx: _make(tx, desk, account, wish))
    except SpecFault as fault:
        raise ControlError(REFUSED, f"not made: {fault}") from None
    return {**_told(item), **_door(desk, account, item, secret), "shown": wish.secret is None}


def _check(desk: Desk, account: Account, kind: str, name: str, wish: Wish) -> None:
    if kind not in trigger.EVENTS:
        raise ControlError(BAD_REQUEST, f"{kind!r} is no kind of trigger", f"one of {', '.join(trigger.EVENTS)}")
    if not wish.task:
        raise ControlError(BAD_REQUEST, "the task is empty", "say what is to be done with what comes")
    if wish.overlap not in OVERLAPS:
        raise ControlError(BAD_REQUEST, f"{wish.overlap!r} is no way to overlap", f"one of {', '.join(OVERLAPS)}")
    if kind == "mailbox" and owner_of(desk.settings, name) != account.name:
        there = ", ".join(each for each in desk.settings.mailboxes if owner_of(desk.settings, each) == account.name)
        fix = f"there is {there}" if there else "describe it in the settings under [mailboxes.NAME]"
        raise ControlError(NOT_FOUND, f"account {account.name} has no mailbox {name!r} to watch", fix)


def _make(tx: WriteTx, desk: Desk, account: Account, wish: Wish) -> tuple[Trigger, str]:
    new = New(
        account=account.id,
        agent=wish.agent,
        thread=str(threads.new(tx, account.id)),
        act="run",
        spec=wish.spec,
        zone=desk.settings.zone().key,
        title=wish.title,
        text=wish.task,
        key=f"cli.{uuid.uuid4().hex}",
        late="all",
        overlap=wish.overlap,
    )
    return desk.runtime.automations.make(tx, new, wish.secret)


async def secret(desk: Desk, args: Args) -> Json:
    """Give a webhook or a mail hook another secret, which is told now."""
    account = chosen(desk, args.optional("account"))
    ident, given = args.text("id"), args.optional("secret")
    args.done()
    kept = desk.runtime.automations

    def renew(tx: WriteTx) -> tuple[Trigger, str]:
        item = _named(kept.all(tx, account.id), ident, account.name)
        return item, kept.renew(tx, item, given)

    try:
        item, made = await desk.store.write(renew)
    except SpecFault as fault:
        raise ControlError(REFUSED, f"not made: {fault}") from None
    return {**_told(item), **_door(desk, account, item, made), "shown": given is None}


def _door(desk: Desk, account: Account, item: Trigger, secret: str) -> Json:
    """How a trigger is reached, once its secret is known."""
    if item.kind == "hook":
        return {"address": f"hook+{item.name}.{secret}@{desk.settings.domain}"}
    if item.kind == "webhook":
        port = desk.ports.web if desk.ports else desk.settings.listen.web
        url = f"http://127.0.0.1:{port}/hooks/{account.name}/{item.name}"
        signed = signatures.of_webhook(desk.settings, account.name, item.name)
        scheme = signed.scheme if signed is not None else ""
        return {"url": url, "secret": secret, "enabled": desk.settings.webhooks.enabled, "signed": scheme}
    return {}


def _named(found: list[Trigger], ident: str, account: str) -> Trigger:
    """The schedule of this id, or of an end of it that only one has; a webhook, hook or mailbox also by kind and name,
    or by its name alone if only one has it.
    """
    wanted = " ".join(ident.lower().split())
    fitting = [item for item in found if item.name and wanted in (item.spec, item.name)]
    fitting = fitting or [item for item in found if item.id.endswith(wanted)]
    if len(fitting) != 1:
        what = f"several triggers {ident}" if fitting else f"no trigger {ident}"
        raise ControlError(NOT_FOUND, f"account {account} has {what}", "`postroom triggers list` shows those there are")
    return fitting[0]


def _told(item: Trigger) -> Json:
    names = ("id", "state", "act", "kind", "name", "agent", "title", "spec", "zone", "last", "fired", "created")
    return {**{name: getattr(item, name) for name in names}, "when": item.rule.words(), "next": item.due_at}
