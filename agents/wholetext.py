"""Text that UTF-8 can hold. Models and servers may send halves of a character (lone surrogates), as JSON allows.

The rule: what comes from outside is mended where it comes in, so that nothing behind can stumble over it.
"""

from typing import Any, Final

DEEPEST: Final = 100
"""How many levels a JSON value may have. Fixed, lest it depend on who asks: what is read once is read again later."""


def mended(text: str) -> str:
    """A text with the halves that belong together joined, and every other half as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def mended_tree(value: Any, levels: int = DEEPEST) -> Any:
    """The same for every text of a JSON value, names of objects too. Raises RecursionError for one with more levels."""
    if isinstance(value, str):
        return mended(value)
    if not isinstance(value, list | dict):
        return value
    if not levels:
        raise RecursionError("nested too deeply")
    if isinstance(value, list):
        return [mended_tree(one, levels - 1) for one in value]
    return {mended(name): mended_tree(one, levels - 1) for name, one in value.items()}
