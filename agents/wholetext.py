"""Text that UTF-8 can hold. Models and servers may send halves of a character (lone surrogates), as JSON allows.

The rule: what comes from outside is mended where it comes in, so that nothing behind can stumble over it.
"""

from typing import Any


def mended(text: str) -> str:
    """A text with the halves that belong together joined, and every other half as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def mended_tree(value: Any) -> Any:
    """The same for every text of a JSON value, names of objects too."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [mended_tree(one) for one in value]
    if isinstance(value, dict):
        return {mended(name): mended_tree(one) for name, one in value.items()}
    return value
