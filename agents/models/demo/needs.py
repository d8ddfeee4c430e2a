"""What is missing before the work can go on, as one question to the user at a time.

Rule: a question is asked only for what the user alone knows; an address is taken only from words of the user.
"""

from agents.letter import Attachment
from agents.models.demo.files import missing_files
from agents.models.demo.state import Question, State, Task
from agents.models.demo.text import fold
from agents.models.demo.times import read_due
from agents.models.demo.wish import Content, Delivery, Make, Source


def chosen(task: Task) -> tuple[Attachment, ...]:
    """The attached files that the wish is about."""
    names = set(task.wish.files)
    return tuple(file for file in task.files if not names or file.name in names)


def material(task: Task) -> str:
    """Text that the letter itself carries, or what was made before when the wish goes on from it."""
    before = task.product.body if task.product and task.wish.source is Source.BEFORE else ""
    return task.wish.material or task.foreign or before


def question(task: Task) -> Question | None:
    """The next question, or None when everything needed is known."""
    if task.given_up:
        return None
    for find in (_file, _address, _words, _when):
        found = find(task)
        if found is not None:
            return found
    return None


def _pick(task: Task, english: str, german: str) -> str:
    return german if task.wish.german else english


def _file(task: Task) -> Question | None:
    wish = task.wish
    needs_files = wish.make in (Make.SUMMARY, Make.TEXT) and wish.source is Source.FILES
    needs_files = needs_files or (
        wish.make is Make.NOTHING and any(one.content is Content.FILES for one in wish.deliveries)
    )
    if needs_files and not task.files and not material(task):
        return Question(
            "files",
            _pick(
                task,
                "No file is attached to your mail. Which text do you mean? Please answer with the file attached, "
                "or paste the text.",
                "An Ihrer Mail hängt keine Datei. Welcher Text ist gemeint? Bitte mit der Datei im Anhang "
                "antworten oder den Text einfügen.",
            ),
        )
    missing = missing_files(wish.words, [file.name for file in task.files]) if needs_files and not wish.files else ()
    if missing and not material(task):
        there = ", ".join(file.name for file in task.files)
        return Question(
            "files",
            _pick(
                task,
                f"There is no {missing[0]} attached; attached is {there}. Please answer with the right file attached.",
                f"{missing[0]} ist nicht angehängt; angehängt ist {there}. Bitte mit der richtigen Datei im "
                f"Anhang antworten.",
            ),
        )
    if wish.make is Make.SUMMARY and wish.source in (Source.OWN, Source.BEFORE) and not material(task):
        if "http" in wish.words:
            return Question(
                "files",
                _pick(
                    task,
                    "I cannot open web pages. Please answer with the text itself, pasted or attached.",
                    "Ich kann keine Webseiten öffnen. Bitte den Text selbst schicken, eingefügt oder angehängt.",
                ),
            )
        return Question(
            "files",
            _pick(
                task,
                "What am I to summarise? Please answer with a file attached, or paste the text.",
                "Was soll ich zusammenfassen? Bitte mit einer Datei im Anhang antworten oder den Text einfügen.",
            ),
        )
    return None


def _address(task: Task) -> Question | None:
    for delivery, outcome in zip(task.wish.deliveries, task.outcomes, strict=True):
        if outcome.state is State.OPEN and not recipients(task, delivery) and (delivery.people or not delivery.draft):
            who = " / ".join(delivery.people)
            english = f"Which mail address should I use for {who}?" if who else "Which mail address should it go to?"
            german = f"Welche Mailadresse soll ich für {who} nehmen?" if who else "An welche Mailadresse soll es gehen?"
            return Question("address", _pick(task, english, german))
    return None


def recipients(task: Task, delivery: Delivery) -> tuple[str, ...]:
    """The addresses of a mail; a name without one is found among the addresses that the user wrote in this thread."""
    if delivery.to or not delivery.people:
        return delivery.to
    known = {fold(address.partition("@")[0]).split(".")[0]: address for address in task.named}
    found = [known.get(fold(person)) for person in delivery.people]
    return tuple(dict.fromkeys(address for address in found if address)) if all(found) else ()


def _words(task: Task) -> Question | None:
    for delivery, outcome in zip(task.wish.deliveries, task.outcomes, strict=True):
        if (
            outcome.state is not State.OPEN
            or delivery.words
            or delivery.content not in (Content.UNSAID, Content.RESULT)
        ):
            continue
        nothing_made = task.wish.make is Make.NOTHING and task.product is None and not material(task)
        if nothing_made and not (delivery.content is Content.UNSAID and task.files):
            to = ", ".join(recipients(task, delivery))
            english = f"What should the mail to {to} say?" if to else "What should the draft say?"
            german = f"Was soll in der Mail an {to} stehen?" if to else "Was soll im Entwurf stehen?"
            return Question("words", _pick(task, english, german))
    return None


def _when(task: Task) -> Question | None:
    if "remind_me" not in task.tools or task.now is None:
        return None
    for alarm, outcome in zip(task.wish.alarms, task.alarms, strict=True):
        if outcome.state is State.OPEN and read_due(alarm.when, task.now) is None:
            return Question("when", _pick(task, "When should I remind you?", "Wann soll ich Sie erinnern?"))
    return None
