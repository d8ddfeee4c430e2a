"""What the program itself answers: short mails that say what was done, or why not and what to write instead.

The rule: every notice answers one mail of the user and takes its key, so a repeat of the mail is no second notice.
"""

from dataclasses import dataclass
from typing import Final

from agents.ports import WriteTx
from agents.runtime import Runtime
from mailstore.model import EmailInfo

HELP: Final = """\
Write to an agent as you would to a colleague; a new subject is a new task, a reply goes on with it. Attach what it
needs.

Alone as the whole text of a reply: `stop` ends the task, `retry` tries it again, `continue` goes on after a limit,
`status` says how it stands, `rename to` and a name renames the thread, `fork` begins another one from that mail on.

To this address: `grants` lists what you always approve, `revoke` and a name of that list takes it back. `memory` lists
what agents keep in mind, `memory on` and `memory off` turn that on and off. `folders` lists what files they reach.

A request in the mailbox Action waits until you answer it: one word lets it go ahead or refuses it, anything else goes
to the agent and nothing is done.

You can write to: {addresses}."""


NO_WORD: Final = """\
Nothing was done with "{title}": your answer was none of the words that its message knows.

Answer that message with "run now", "pause", "resume" or "delete", alone as the whole text. To change the time or the
task, write to schedule again as for a new one, and delete this one."""


UNBOUND: Final = """\
Nothing was decided: your mail answers none of the requests that wait here ({codes}), but another mail of this thread.

Answer the mail of the request itself, which stands in the mailbox Action, with the single word "approve" or
"reject"."""


UNSENT: Final = """\
The request {code} waits for you here. It was meant to go to {to} as well, and the relay did not take it: {why}.

Decide it here at home. If this comes again, look at the address under [outside] and at [relay] in the settings.
`postroom doctor` tries the relay out."""


SKILL_FILE: Final = """\
Nothing was taken in of {name}. Skills and plugins serve everybody who has an account here, and their text is
trusted, so none comes by mail.

Whoever runs this Postroom looks at the file and takes it in:

    postroom skills import FILE

`postroom skills list` then shows whether it is ready, and what is in its way if it is not."""


UNREAD: Final = """\
The mailbox {mailbox} cannot be read: {why}. Requests still go out to you, but what you answer from there is not seen.

Decide here at home meanwhile, and look at the login under [outside] in the settings. It is tried again by itself; what
came in the meantime is read then."""


OTHER_THREAD: Final = (
    "Your mail began a thread of its own, with nothing in it yet: to reach a task, answer one of its mails with this "
    "word."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The mail that a notice answers."""

    account: int
    thread: str
    subject: str
    message_id: str | None
    key: str

    @classmethod
    def of(cls, info: EmailInfo, key: str) -> "Asked":
        return cls(info.account, str(info.thread), info.subject, info.message_id, key)


def say(tx: WriteTx, runtime: Runtime, asked: Asked, agent: str, body: str) -> None:
    """Queue a notice of the program, from the address of `agent`."""
    runtime.notice(
        tx,
        key=f"notice.{asked.account}.{asked.key}.{agent}",
        account=asked.account,
        agent=agent,
        thread=asked.thread,
        subject=reply_subject(asked.subject),
        body=body,
        in_reply_to=asked.message_id,
    )


def reply_subject(subject: str) -> str:
    """A subject with one "Re: "."""
    subject = " ".join(subject.split()) or "your mail"
    return subject if subject.lower().startswith("re:") else f"Re: {subject}"


def near_miss(code: str, why: str, line: str) -> str:
    """The answer to a reply that was nearly a decision."""
    began = f' Your answer began with "{line[:60]}".' if line else ""
    return (
        f"Nothing was done, and the request {code} still waits.{began} {_sentence(why)}\n\n"
        'If you want it as it stands, answer the request with the single word "approve"; to refuse it, with "reject". '
        "If you want it changed, say what, and the agent will propose it again."
    )


def empty(code: str) -> str:
    """The answer to a reply without any words."""
    return (
        f"Your answer had no text of its own, so nothing was done and the request {code} still waits.\n\n"
        'Answer it with the single word "approve" or "reject", or say what should be different.'
    )


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1:] in '.!' else '.'}" if text else ""
