"""Messages, the face: taking in, copying, moving, removing and reading them. Each function takes a transaction first.

The rule: the bytes, UID and size of a message never change after it was appended.
"""

from mailstore.appending import Incoming, append, append_all, replace
from mailstore.content import body, body_reader, chunk_reader, first_chunks
from mailstore.fetching import by_message_id, email, fetch, locate, stored
from mailstore.filing import copy, move
from mailstore.removal import expunge

__all__ = [
    "Incoming",
    "append",
    "append_all",
    "body",
    "body_reader",
    "by_message_id",
    "chunk_reader",
    "copy",
    "email",
    "expunge",
    "fetch",
    "first_chunks",
    "locate",
    "move",
    "replace",
    "stored",
]
