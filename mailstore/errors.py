"""Refusals of the store, each a type with a short code; the one rule: no other exception is part of the store's face.

A caller maps `code` to its own protocol (an IMAP response code, an SMTP reply); the text of an error is fit to be
shown to the user, and holds nothing of a message.
"""


class StoreError(Exception):
    """Base of all refusals. `code` is a stable name for programs, `str(error)` a sentence for people."""

    code = "store"


class AlreadyExists(StoreError):
    """The mailbox (or account) exists already."""

    code = "already-exists"


class NoSuchMailbox(StoreError):
    """No mailbox of this name, or it was deleted meanwhile."""

    code = "no-such-mailbox"


class NoSuchAccount(StoreError):
    """No account of this name."""

    code = "no-such-account"


class HasChildren(StoreError):
    """The mailbox has others below it and cannot go."""

    code = "has-children"


class NotStored(StoreError):
    """A rendering of a message has to be made first, by whoever can."""

    code = "not-stored"


class CannotModify(StoreError):
    """The mailbox is a view or one that Postroom itself keeps; the text says what to do instead."""

    code = "cannot-modify"


class BadName(StoreError):
    """A mailbox name that cannot be kept (empty part, control character, too long)."""

    code = "bad-name"


class BadFlag(StoreError):
    """A flag that does not exist or may not be set by hand."""

    code = "bad-flag"


class QuotaOver(StoreError):
    """The account has reached a limit (mailboxes, keywords, bytes)."""

    code = "quota-over"


class Full(StoreError):
    """The disk is full: nothing of this change was kept."""

    code = "full"


class Broken(StoreError):
    """The transaction ended under the function that ran in it, or the commit failed: nothing was kept."""

    code = "broken"


class Closed(StoreError):
    """The database is closed."""

    code = "closed"


class TooOld(StoreError):
    """The data folder was written by a newer Postroom than this one."""

    code = "too-old"
