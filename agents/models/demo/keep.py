"""Words that ask to keep something in mind, where the installation has memory: one note, in the user's words.

The rule: only a mail that says nothing else is taken for such a wish, so that no other wish loses a part of itself.
"""

import re
from typing import TYPE_CHECKING, Final

from agents.llm import ModelRequest, ResultMessage, UserMessage

if TYPE_CHECKING:
    from agents.models.demo.plan import Move

TOOL: Final = "remember"
_WISH: Final = re.compile(
    r"(?:please\s+|bitte\s+)?(?:remember|keep\s+in\s+mind|merke?\s+dir|behalte\s+im\s+kopf)\b(?!\s+to\b)"
    r"[\s,:]+(?:(?:that|dass)\s+)?(\S.{2,1500})",
    re.IGNORECASE | re.DOTALL,
)


def keep_move(request: ModelRequest) -> "Move | None":
    """The next move for such a mail; None for every other, and where no notes are kept."""
    from agents.models.demo.plan import Move

    last = request.messages[-1]
    if isinstance(last, ResultMessage) and last.name == TOOL:
        return Move(f"{last.text} You find it in the mailbox Memory." if last.ok else f"Not noted: {last.text}")
    if not isinstance(last, UserMessage) or last.attachments or all(tool.name != TOOL for tool in request.tools):
        return None
    said = _WISH.fullmatch(last.words.strip())
    if said is None or said[1].rstrip().endswith("?"):
        return None
    text = said[1].strip()
    return Move("", ((TOOL, {"text": f"{text[:1].upper()}{text[1:]}"}),))
