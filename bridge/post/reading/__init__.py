"""Reading what a person wrote back: a reply to its new text to a decision. Pure functions, in
linear time.

One rule: when in doubt nothing is approved; every doubt has a name, so that the user can be told.
"""

from bridge.post.reading.decide import read_message, read_reply
from bridge.post.reading.explain import explain_files
from bridge.post.reading.html import visible_text
from bridge.post.reading.machine import machine_reason
from bridge.post.reading.model import Languages, NothingSent, Reading, SentMail, SentMails, SentTable
from bridge.post.reading.vocabulary import decides, vocabulary

__all__ = [
    "Languages",
    "NothingSent",
    "Reading",
    "SentMail",
    "SentMails",
    "SentTable",
    "decides",
    "explain_files",
    "machine_reason",
    "read_message",
    "read_reply",
    "visible_text",
    "vocabulary",
]
