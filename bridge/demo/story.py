"""What the demo asks for: the words, the attachment and the recipient.

The rule: plain data; the same play runs with any other story.
"""

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Story:
    """One job: a mail with a text attachment whose summary is to go to `recipient`."""

    subject: str
    text: str
    attachment_name: str
    attachment: str
    recipient: str
    agent: str = "assistant"


def usual_story() -> Story:
    """The story of `postroom demo`."""
    return Story(
        subject="Notes from Tuesday",
        text="Summarise the attached notes and send the summary to maya@example.org",
        attachment_name="notes.txt",
        attachment=(files("bridge") / "demo" / "notes.txt").read_text(encoding="utf-8"),
        recipient="maya@example.org",
    )
