"""The one error of the wire layer: what is wrong, where, and how it should be answered."""


class ParseError(Exception):
    """The peer's bytes do not follow the grammar.

    `message` is safe to show to the peer (it never repeats his bytes), `position` counts bytes from the start of the
    command's text (a literal counts as one), `status` is the tagged answer it deserves: `BAD` for syntax, `NO` for
    what is well formed but can never be served (a mailbox name that is no modified UTF-7). `code` is a response code
    without its brackets, or None.
    """

    def __init__(self, message: str, position: int = 0, *, status: str = "BAD", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.status = status
        self.code = code

    def __str__(self) -> str:
        return f"{self.message} at byte {self.position}"
