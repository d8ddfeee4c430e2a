"""What FETCH can give: one module an item family, over the parsed message and the stored rows.

`item` is the interface for all of them and for extensions; RENDERERS are the forms that are stored with a message.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from bridge.imap.items.envelope import ENVELOPE_RENDERING, render_envelope
from bridge.imap.items.fields import FIELDS_RENDERING, render_fields
from bridge.imap.items.keys import KEYS_RENDERING, render_keys
from bridge.imap.items.section import PARTS_RENDERING, render_parts
from bridge.imap.items.structure import BODY_RENDERING, BODYSTRUCTURE_RENDERING, render_body, render_bodystructure
from mailstore.parse import Message

RENDERERS: Final[Mapping[str, Callable[[Message], bytes]]] = MappingProxyType(
    {
        ENVELOPE_RENDERING: lambda message: render_envelope(message.envelope),
        BODYSTRUCTURE_RENDERING: lambda message: render_bodystructure(message.root),
        BODY_RENDERING: lambda message: render_body(message.root),
        PARTS_RENDERING: render_parts,
        KEYS_RENDERING: render_keys,
        FIELDS_RENDERING: render_fields,
    }
)
"""Versioned name to renderer: pure, never raising. A change of output takes a new name, as old rows stay stored."""

__all__ = ["RENDERERS"]
