"""What the traits of commands decide: which news may be told at the end of a command.

Rule: handlers never ask this themselves. A departure renumbers everything behind it, so it is told only where RFC 3501
section 7.4.1 allows it and where it cannot turn the numbers of a command that the client has already sent.
"""

from dataclasses import dataclass

from bridge.imap.command import AnyCommand, Traits


@dataclass(frozen=True, slots=True)
class News:
    """What may be told: anything at all, and departures among it."""

    any: bool
    gone: bool


NOTHING = News(any=False, gone=False)


def news_after(command: AnyCommand, following: AnyCommand | None) -> News:
    """What may be told at the end of `command`, when `following` is already waiting in the pipeline.

    A client that pipelines numbers behind a NOOP breaks RFC 3501 section 5.5; it costs nothing to keep it whole: the
    departures wait until its numbers have been read. EXPUNGE and MOVE are the exception, as the client asked for them.
    """
    traits = command.traits
    if traits.changes_mailbox:
        return NOTHING
    if traits.breaks_numbers:
        return News(any=True, gone=True)
    return News(any=True, gone=traits.tells_gone and not _counts(following))


def _counts(following: AnyCommand | None) -> bool:
    traits: Traits | None = following.traits if following else None
    return traits is not None and traits.uses_numbers
