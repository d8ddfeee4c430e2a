"""What the demo model says: orders to a specialist, mails to others, and its last word to the user.

Rule: the first line says the outcome, and nothing is called done that no tool result says is done.
"""

import re

from agents.letter import Attachment
from agents.models.demo import words as w
from agents.models.demo.mailwords import finish
from agents.models.demo.needs import chosen, material, recipients
from agents.models.demo.state import Outcome, State, Task
from agents.models.demo.text import fold
from agents.models.demo.understand import attaches_files, understand
from agents.models.demo.wish import Content, Delivery, Make, Source, Topic
from agents.prompt import size_text

SUBJECT_LENGTH = 60
_SECTION = re.compile(r"^\*\*(.+?)\*\*$", re.MULTILINE)


def _pick(task: Task, english: str, german: str) -> str:
    return german if task.wish.german else english


def order(task: Task, files: int, sentences: int) -> str:
    """The task for the specialist. File names are left out: they come with the files."""
    if files:
        what = _pick(
            task,
            "the attached file" if files == 1 else f"each of the {files} attached files",
            "die angehängte Datei" if files == 1 else f"jede der {files} angehängten Dateien",
        )
    else:
        what = _pick(task, "the text given as material", "den Text, der als Material beiliegt,")
    focus = task.wish.focus
    above = _pick(task, f", above all about {focus}", f", vor allem zu {focus}") if focus else ""
    if task.wish.german:
        return f"Fasse {what} in {sentences} Sätzen zusammen{above}."
    return f"Summarise {what} in {sentences} sentences{above}."


def listed(names: list[str] | tuple[str, ...], task: Task) -> str:
    """Names as a phrase: a, b and c."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {_pick(task, 'and', 'und')} {names[-1]}"


def title(task: Task, only: tuple[str, ...] = ()) -> str:
    """What the product (or the part of it from `only` these files) is made from; empty when it has no name."""
    if task.wish.source is Source.FILES and task.files:
        read = [file.name for file in chosen(task) if file.ref in task.texts]
        read = [name for name in read if name in only] or read
        return listed(read, task) if len(read) <= 3 else _pick(task, f"{len(read)} files", f"{len(read)} Dateien")
    if task.wish.source is Source.MAIL and task.hits:
        first = hit_title(task.hits[0][1])
        return (
            f'"{first}"'
            if len(task.mails) <= 1
            else _pick(task, f"{len(task.mails)} mails", f"{len(task.mails)} Mails")
        )
    return ""


def hit_title(line: str) -> str:
    """The subject in a line of search_mail."""
    return line.split(" | ", 3)[-1].strip()


def hit_line(line: str) -> str:
    """A line of search_mail as the user reads it: subject, sender, date, mailbox."""
    parts = line.split(" | ", 3)
    if len(parts) < 4:
        return line
    at, sender, mailbox, subject_ = parts
    return f"{subject_} ({sender}, {at.removesuffix(' UTC')}, {mailbox})"


def file_line(file: Attachment) -> str:
    """An attachment as a list item."""
    return f"- {file.name} ({file.media_type}, {size_text(file.size)})"


def reminder(task: Task) -> str:
    """The text of a reminder that says nothing but when."""
    return _pick(
        task, f"Reminder: {task.subject or 'you asked me to remind you'}", f"Erinnerung: {task.subject or 'Ihre Bitte'}"
    )


def nothing_to_send(task: Task) -> str:
    return _pick(task, "there was nothing to send", "es gab nichts zu senden")


def no_way_to_send(task: Task) -> str:
    return _pick(
        task,
        "no tool for sending is offered to me; a relay has to be configured for that",
        "mir steht kein Werkzeug zum Senden zur Verfügung; dafür muss ein Relay eingerichtet sein",
    )


def _of(task: Task, only: tuple[str, ...] = ()) -> str:
    name = title(task, only)
    if not name:
        return ""
    return _pick(task, f" of {name}", f" von {name}")


def _what(task: Task, delivery: Delivery) -> str:
    """What a mail holds, as a noun."""
    if delivery.content is Content.FILES:
        names = listed([file.name for file in files_to_attach(task, delivery)], task)
        return names or _pick(task, "the mail", "die Mail")
    if delivery.content is Content.RESULT and task.wish.make is Make.SUMMARY:
        return _pick(task, f"the summary{_of(task, delivery.files)}", f"die Zusammenfassung{_of(task, delivery.files)}")
    if delivery.content is Content.RESULT and task.wish.make is not Make.NOTHING:
        return _pick(task, "the result", "das Ergebnis")
    return _pick(task, "the mail", "die Mail")


def subject(task: Task, delivery: Delivery) -> str:
    """The subject of a mail: given, else from what it holds."""
    if delivery.subject:
        return delivery.subject
    if delivery.content is Content.FILES:
        return listed([file.name for file in files_to_attach(task, delivery)], task) or _own_subject(task)
    if delivery.content is Content.RESULT and task.wish.make in (Make.SUMMARY, Make.NOTHING):
        name = title(task, delivery.files) or _own_subject(task)
        head = _pick(task, "Summary", "Zusammenfassung")
        return f"{head}{_pick(task, ' of ', ' von ')}{name}" if name else head
    if delivery.content is Content.RESULT:
        return _own_subject(task) or _pick(task, "What I found", "Was ich gefunden habe")
    about = _about(delivery)
    return (
        _shortened(about)
        if about
        else _own_subject(task) or _shortened(delivery.words.rstrip(".")) or _pick(task, "Hello", "Hallo")
    )


def _own_subject(task: Task) -> str:
    """The letter's own subject, unless it is itself an instruction."""
    plain = re.sub(r"^(?:(?:re|aw|fwd?|wg)\s*:\s*)+", "", task.subject, flags=re.IGNORECASE).strip()
    return plain if plain and understand(plain).topic is Topic.UNKNOWN else ""


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= SUBJECT_LENGTH:
        return text[:1].upper() + text[1:]
    return text[:SUBJECT_LENGTH].rsplit(" ", 1)[0].rstrip(",;:.") + " ..."


def _about(delivery: Delivery) -> str:
    return delivery.words.removeprefix("about ") if delivery.words.startswith("about ") else ""


def files_to_attach(task: Task, delivery: Delivery) -> tuple[Attachment, ...]:
    """The files that go along with a mail."""
    if delivery.content is Content.FILES or (task.files and attaches_files(task.wish.words)):
        return _own_files(task, delivery)
    if delivery.content is Content.UNSAID and not delivery.words and task.files:
        return _own_files(task, delivery)
    return ()


def _own_files(task: Task, delivery: Delivery) -> tuple[Attachment, ...]:
    """The files of this mail alone, or those of the whole wish."""
    own = tuple(file for file in chosen(task) if file.name in delivery.files)
    return own or chosen(task)


def _held(task: Task, delivery: Delivery) -> str:
    """The part of the product that is for this mail: of several summaries those of its own files."""
    whole = task.product.body if task.product else material(task)
    parts = _SECTION.split(whole)
    sections = {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    own = [(name, sections[name]) for name in delivery.files if name in sections]
    if not own or len(own) == len(sections):
        return whole
    return own[0][1] if len(own) == 1 else "\n\n".join(f"**{name}**\n\n{text}" for name, text in own)


def mail_text(task: Task, delivery: Delivery, extra: str) -> str:
    """The whole text of a mail: greeting, what it is, the content, an added sentence, a close."""
    body = _mail_body(task, delivery)
    if extra:
        body += "\n\n" + extra
    if w.GREETING.fullmatch(fold(body.split("\n")[0])):
        return body
    if delivery.greeting:
        hello = _pick(task, f"Hi {listed(delivery.greeting, task)},", f"Hallo {listed(delivery.greeting, task)},")
    else:
        hello = _pick(task, "Hello,", "Guten Tag,")
    close = _pick(task, "Best regards", "Viele Grüße")
    return f"{hello}\n\n{body}\n\n{close}" + (f"\n{task.owner}" if task.owner else "")


def _mail_body(task: Task, delivery: Delivery) -> str:
    if delivery.content is Content.FILES or (delivery.content is Content.UNSAID and not delivery.words and task.files):
        names = listed([file.name for file in files_to_attach(task, delivery)], task)
        said = f"{delivery.words}\n\n" if delivery.words and not _about(delivery) else ""
        return said + _pick(task, f"Attached is {names}.", f"Anbei {names}.") if names else material(task)
    if delivery.content is Content.RESULT:
        held = _held(task, delivery)
        if task.wish.make is Make.SUMMARY:
            return (
                _pick(
                    task,
                    f"Here is a summary{_of(task, delivery.files)}:",
                    f"Hier ist eine Zusammenfassung{_of(task, delivery.files)}:",
                )
                + f"\n\n{held}"
            )
        return held
    about = _about(delivery)
    if about:
        return _pick(task, f"I am writing to you about {about}.", f"ich schreibe Ihnen wegen: {about}.")
    return delivery.words or material(task)


def report(task: Task) -> str:
    """The last word about a wish: outcomes first, then what was made or sent, then what could not be read."""
    lines = [
        _outcome(task, delivery, outcome) for delivery, outcome in zip(task.wish.deliveries, task.outcomes, strict=True)
    ]
    lines += [_alarm(task, outcome) for outcome in task.alarms]
    parts = ["\n".join(lines)] if lines else []
    sent = [_shown(task, outcome) for outcome in task.outcomes if outcome.state in (State.DONE, State.DRAFTED)]
    if sent:
        parts += sent
    elif task.wish.make is not Make.NOTHING:
        parts.append(_product(task))
    parts.append(_unread(task))
    return "\n\n".join(part for part in parts if part)


def _outcome(task: Task, delivery: Delivery, outcome: Outcome) -> str:
    to = listed(list(recipients(task, delivery)), task) or _pick(task, "nobody yet", "noch niemanden")
    what = _what(task, delivery)
    if outcome.state is State.DONE:
        return _pick(task, f"Done: {what} went to {to}.", f"Erledigt: {what} ging an {to}.")
    if outcome.state is State.DRAFTED:
        done = _pick(
            task,
            f"Done: a draft to {to} is in your Drafts mailbox; it was not sent.",
            f"Erledigt: ein Entwurf an {to} liegt in Drafts; er wurde nicht gesendet.",
        )
        return done if delivery.draft else f"{done} {_sentence(no_way_to_send(task))}"
    why = {
        State.REJECTED: _pick(task, "you rejected it", "Sie haben es abgelehnt"),
        State.EXPIRED: _pick(task, "the request expired without an answer", "die Anfrage ist ohne Antwort abgelaufen"),
        State.DROPPED: _pick(task, "as you wished", "wie gewünscht"),
    }.get(outcome.state, outcome.text or _pick(task, "it could not be sent", "es ließ sich nicht senden"))
    said = f' ("{outcome.text}")' if outcome.state is State.REJECTED and outcome.text else ""
    return _pick(
        task, f"Not sent: {what} to {to}; {why}{said}.", f"Nicht gesendet: {what} an {to}; {why}{said}."
    ).replace("..", ".")


def _sentence(text: str) -> str:
    return finish(text)


def _alarm(task: Task, outcome: Outcome) -> str:
    if outcome.state is State.DONE:
        return _pick(task, f"Done. {outcome.text}", f"Erledigt. {outcome.text}")
    if not task.offers("remind_me"):
        return _pick(
            task,
            "Not done: no reminder was set, because this installation offers me no tool for schedules.",
            "Nicht erledigt: Es wurde keine Erinnerung angelegt, weil mir hier kein Werkzeug für Termine "
            "angeboten wird.",
        )
    return _pick(
        task, f"Not done: no reminder was set ({outcome.text}).", f"Nicht erledigt: keine Erinnerung ({outcome.text})."
    )


def _shown(task: Task, outcome: Outcome) -> str:
    head = (
        _pick(task, "What I wrote", "Was ich geschrieben habe")
        if outcome.state is State.DRAFTED
        else _pick(task, "What I sent", "Was ich gesendet habe")
    )
    return f"**{head}** ({outcome.sent.get('subject', '')})\n\n{str(outcome.sent.get('text', '')).strip()}"


def _product(task: Task) -> str:
    make, name = task.wish.make, _of(task)
    if task.product is None:
        return _nothing(task)
    heads = {
        Make.SUMMARY: _pick(task, f"Summary{name}:", f"Zusammenfassung{name}:"),
        Make.TEXT: _pick(task, f"The text{name}:", f"Der Text{name}:"),
        Make.HITS: _pick(
            task, f"{len(task.hits or ())} found, newest first:", f"{len(task.hits or ())} gefunden, neueste zuerst:"
        ),
        Make.WAITING: _pick(
            task, f"{len(task.hits or ())} waiting for you:", f"{len(task.hits or ())} warten auf Sie:"
        ),
        Make.ATTACHMENTS: _pick(task, "Attached to this thread:", "In diesem Faden angehängt:"),
    }
    return f"{heads[make]}\n\n{task.product.body}"


def _nothing(task: Task) -> str:
    make = task.wish.make
    if make is Make.ATTACHMENTS:
        return _pick(
            task, "Nothing is attached to the mails of this thread.", "An den Mails dieses Fadens hängt nichts."
        )
    if make is Make.WAITING and task.hits is not None:
        return _pick(task, "Nothing waits for you.", "Nichts wartet auf Sie.")
    if task.wish.source is Source.MAIL or make is Make.WAITING:
        if task.hits is None:
            return _pick(
                task,
                "Not done: no tool for searching mail is offered to me.",
                "Nicht erledigt: mir wird keine Mailsuche angeboten.",
            )
        return _pick(
            task,
            f'Nothing found: no mail fits "{task.wish.query}".',
            f'Nichts gefunden: keine Mail passt zu "{task.wish.query}".',
        )
    return _pick(task, "Not done: nothing could be read.", "Nicht erledigt: nichts ließ sich lesen.")


def _unread(task: Task) -> str:
    names = {file.ref: file.name for file in task.files}
    lines = [
        f"- {why}" if names[ref] in why else f"- {names[ref]}: {why}"
        for ref, why in task.faults.items()
        if ref in names
    ]
    if not lines or task.wish.make not in (Make.SUMMARY, Make.TEXT):
        return ""
    return _pick(task, "Not read:", "Nicht gelesen:") + "\n" + "\n".join(lines)


def given_up(task: Task) -> str:
    """The end when a needed answer did not come."""
    done = [outcome for outcome in task.outcomes if outcome.state is State.DONE]
    head = _pick(
        task,
        "Stopped: I did not get what I needed, so nothing was sent.",
        "Beendet: mir fehlte eine Angabe, daher wurde nichts gesendet.",
    )
    return report(task) if done else head


def puzzled(task: Task) -> str:
    """The honest end when the user's words about the work were not understood."""
    sent = any(outcome.state is State.DONE for outcome in task.outcomes)
    head = _pick(task, "I did not understand what to change", "Ich habe nicht verstanden, was zu ändern ist")
    tail = "." if sent else _pick(task, ", and nothing was sent.", ", und nichts wurde gesendet.")
    return (
        head
        + tail
        + "\n\n"
        + _pick(
            task,
            'I am a demo without a language model. I can change the address ("use NAME@HOST instead"), the '
            'length ("shorter", '
            '"three sentences"), the subject ("change the subject to ..."), add a sentence ("add that ..."), '
            "make it a draft, or drop it.",
            'Ich bin eine Demo ohne Sprachmodell. Ich kann die Adresse ändern, die Länge ("kürzer", "drei '
            'Sätze"), den Betreff '
            '("Betreff: ..."), einen Satz ergänzen ("ergänze, dass ..."), einen Entwurf daraus machen oder es lassen.',
        )
    )


def topic(task: Task) -> str:
    """The answer to a letter that asks for nothing, for help, or for something unknown."""
    if task.wish.topic is Topic.THANKS:
        return _pick(task, "You are welcome. Nothing more was done.", "Gern. Weiter wurde nichts getan.")
    head = (
        _pick(task, "This is what I can do.", "Das kann ich.")
        if task.wish.topic is Topic.HELP
        else _pick(
            task,
            "Not done: I did not understand this, so I did nothing.",
            "Nicht erledigt: das habe ich nicht verstanden und nichts getan.",
        )
    )
    return f"{head}\n\n{abilities(task)}"


def abilities(task: Task) -> str:
    """What the demo can do with the tools at hand, and how to get a real model."""
    able = [
        (
            "read_attachment",
            "summarise attached files, or text in your mail",
            "angehängte Dateien oder Text in Ihrer Mail zusammenfassen",
        ),
        (
            "send_mail",
            "send the summary, a file or your words to an address, after you approve",
            "die Zusammenfassung, eine Datei oder Ihre Worte nach Ihrer Freigabe an eine Adresse senden",
        ),
        ("draft_mail", "put a draft into your Drafts mailbox", "einen Entwurf in Drafts legen"),
        (
            "search_mail",
            "search and list your mail, and what waits for you",
            "Ihre Mail durchsuchen und auflisten, auch was auf Sie wartet",
        ),
        ("remind_me", "remind you at a time", "Sie zu einer Zeit erinnern"),
        ("remember", 'keep a note ("remember that ...")', 'eine Notiz behalten ("merke dir, dass ...")'),
    ]
    lines = [f"- {_pick(task, english, german)}" for tool, english, german in able if task.offers(tool)]
    head = _pick(
        task,
        "I am the demo that comes with Postroom: fixed rules, no language model. With the tools at hand I can:",
        "Ich bin die Demo von Postroom: feste Regeln, kein Sprachmodell. Mit den Werkzeugen hier kann ich:",
    )
    tail = _pick(
        task,
        "For anything else, set up a model: add a [models.NAME] table with its provider's name and key to the "
        "configuration file, "
        "and name it as the agent's model.",
        "Für alles andere richten Sie ein Modell ein: eine Tabelle [models.NAME] mit Namen und Schlüssel des "
        "Anbieters in der "
        "Konfigurationsdatei, und beim Agenten als Modell eintragen.",
    )
    return "\n".join([head, "", *lines, "", tail])
