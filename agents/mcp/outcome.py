"""What a call to a server came to: an answer, or one of the ways in which there is none.

The rule: each way says whether the server may have acted, since that is what the user has to be asked about.
"""

from dataclasses import dataclass

import mcp_types as types


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave, and what the server wanted to ask the user meanwhile; `late`: it had given up waiting for the
    answer that the user gave.
    """

    result: types.CallToolResult
    declined: tuple[str, ...]
    late: bool = False


class Unreached(Exception):
    """The server is not there: nothing was asked of it."""


class Lost(Exception):
    """The connection ended, or gave what cannot be read, while a call was under way: it may have happened."""


class Forgotten(Exception):
    """The call that was kept open for an answer is open no more. `answer` is what it gave without one, if it did."""

    def __init__(self, answer: "Answer | None" = None) -> None:
        super().__init__("the server does not wait for the answer any more")
        self.answer = answer


class Refused(Exception):
    """The server answered that it did not take the call. The text is the server's; `unread`: it refused what it was
    given before anything was done with it.
    """

    def __init__(self, text: str, unread: bool = False) -> None:
        super().__init__(text)
        self.unread = unread
