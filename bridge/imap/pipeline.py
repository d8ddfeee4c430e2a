"""What the traits of commands decide: where a command may be given, and which news may be told at its end.

Rule: handlers never ask this themselves. A departure renumbers everything behind it, so it is told only where RFC 3501
section 7.4.1 allows it and where it cannot turn the numbers of a command that the client has already sent.
"""

from dataclasses import dataclass

from bridge.imap.command import AnyCommand, Refused, Traits
from bridge.imap.dialect import Mode
from bridge.imap.states import State
from bridge.imap.wire.codes import Code


@dataclass(frozen=True, slots=True)
class News:
    """What may be told: anything at all, and departures and flags among it.

    `between`: no command has asked, not even IDLE. `forced`: the client has asked for departures by its command.
    """

    any: bool
    gone: bool
    flags: bool = True
    between: bool = False
    forced: bool = False


NOTHING = News(any=False, gone=False)


def news_after(command: AnyCommand, following: AnyCommand | None, *, counted: bool = False) -> News:
    """What may be told at the end of `command`, when `following` is already waiting in the pipeline.

    `counted`: a UID SEARCH with numbers among its criteria, in whose answer departures may not be told by UID (RFC 7162
    section 3.2.10.2), though EXPUNGE may (RFC 3501 section 5.5).

    A client that pipelines numbers behind a NOOP breaks RFC 3501 section 5.5; it costs nothing to keep it whole: the
    departures wait until its numbers have been read. EXPUNGE and MOVE are the exception, as the client asked for them.
    """
    traits = command.traits
    if traits.changes_mailbox:
        return NOTHING
    if traits.breaks_numbers:
        return News(any=True, gone=True, forced=True)
    return News(any=True, gone=traits.tells_gone and not counted and not _counts(following))


def _counts(following: AnyCommand | None) -> bool:
    traits: Traits | None = following.traits if following else None
    return traits is not None and traits.uses_numbers


def check_place(command: AnyCommand, state: State, modes: frozenset[Mode]) -> None:
    """Raises Refused for a command that may not be given in this state, or that needs numbers where none are spoken."""
    if state in command.states:
        if Mode.UIDONLY in modes and command.traits.uses_numbers:
            raise Refused("Only UIDs are spoken here now", Code.UIDREQUIRED.value, bad=True)
        return
    if state is State.FRESH:
        raise Refused("Log in first", bad=True)
    if State.SELECTED in command.states:
        raise Refused("Select a mailbox first", bad=True)
    raise Refused("You are logged in already", bad=True)
