"""Notes as their owner meets them: messages in the mailbox Memory, and words to `help@`."""

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agents import discover, notes
from agents.notes import Note
from bridge.control.memory import add, forget, listed, turn
from bridge.control.protocol import Args, ControlError
from tests.agents.script import ScriptedModel, Turn, say, want
from tests.post.desk import AGENT, Desk, Person, desk

HELP = "help@postroom.internal"
TEA = "Ada drinks tea, no milk."


@contextlib.asynccontextmanager
async def house_of(home: Path, monkeypatch: pytest.MonkeyPatch, turns: Sequence[Turn]) -> AsyncIterator[Desk]:
    """A whole Postroom whose model follows a script."""
    monkeypatch.setattr(discover, "models", lambda *_: {"demo": ScriptedModel({"": turns})})
    async with desk(home) as made:
        yield made


def known(person: Person) -> list[Note]:
    return person.desk.app.store.read(lambda tx: notes.of_account(tx, person.identity.account))


async def say_to_help(person: Person, text: str, nth: int) -> str:
    await person.write(HELP, "Memory", text)
    return (await person.mail("Re: Memory", nth=nth)).text


@pytest.fixture
async def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Person]:
    """Ada, whose assistant has noted something in a task."""
    script = [say("", want("remember", text=TEA)), say("Noted.")]
    async with house_of(tmp_path / "home", monkeypatch, script) as house:
        ada = await house.person("ada")
        assert "Memory is on" in await say_to_help(ada, "memory on", 1)
        await ada.write(AGENT, "Breakfast", "I drink tea")
        await ada.mail("Re: Breakfast")
        yield ada


async def test_a_note_is_one_message_read_and_gone_when_it_is_deleted(noted: Person) -> None:
    kept = await noted.mail(TEA, "Memory")
    assert kept.seen
    assert kept.text.startswith(TEA)
    assert 'learned in "Breakfast"' in kept.text
    assert kept.keywords == ("$Note",)
    assert all(TEA not in mail.message["Subject"] for mail in noted.mails("All"))
    await noted.expunge(kept, "Memory")
    assert known(noted) == []
    assert noted.mails("Memory") == []


async def test_in_trash_a_note_is_set_aside_and_comes_back(noted: Person) -> None:
    await noted.move(await noted.mail(TEA, "Memory"), "Memory", "Trash")
    assert [note.state for note in known(noted)] == ["off"]
    await noted.move(await noted.mail(TEA, "Trash"), "Trash", "Memory")
    assert [note.state for note in known(noted)] == ["active"]
    await noted.move(await noted.mail(TEA, "Memory"), "Memory", "Trash")
    await noted.expunge(await noted.mail(TEA, "Trash"), "Trash")
    assert known(noted) == []


async def test_a_client_that_moves_by_copy_and_expunge_forgets_only_at_the_end(noted: Person) -> None:
    """Into an own folder it stays a note, into Trash it is set aside, and out of there it is forgotten."""
    kept = await noted.mail(TEA, "Memory")
    await noted.copy(kept, "Memory", "Archive")
    await noted.expunge(kept, "Memory")
    assert [note.state for note in known(noted)] == ["active"]
    filed = await noted.mail(TEA, "Archive")
    await noted.copy(filed, "Archive", "Trash")
    await noted.expunge(filed, "Archive")
    assert [note.state for note in known(noted)] == ["off"]
    await noted.expunge(await noted.mail(TEA, "Trash"), "Trash")
    assert known(noted) == []


async def test_an_answer_edits_a_note_and_its_message_is_replaced(noted: Person) -> None:
    kept = await noted.mail(TEA, "Memory")
    await noted.reply(kept, "edit\nAda drinks coffee.")
    assert "Changed" in (await noted.mail(f"Re: {TEA}")).text
    [newer] = await noted.wait("Memory", lambda all: [mail.text[:18] for mail in all] == ["Ada drinks coffee."])
    assert [note.text for note in known(noted)] == ["Ada drinks coffee."]
    await noted.reply(newer, "Thanks!")
    assert "Nothing was changed" in (await noted.mail("Re: Ada drinks coffee.")).text
    await noted.reply(kept, "forget")  # an older state of the same message still means the note
    await noted.mail(f"Re: {TEA}", nth=2)
    assert (known(noted), noted.mails("Memory")) == ([], [])
    await noted.reply(newer, "forget")
    assert "forgotten before" in (await noted.mail("Re: Ada drinks coffee.", nth=2)).text


async def test_words_to_the_program(noted: Person) -> None:
    [note] = known(noted)
    told = await say_to_help(noted, "remember: The dentist is Dr Hooper,\non Mondays.", 2)
    assert "Noted as N-" in told
    assert "for all your agents" in told
    listing = await say_to_help(noted, "Memory.", 3)
    assert f"{note.code}, for Assistant:" in listing
    assert "    on Mondays." in listing
    assert f"{note.code} is forgotten." in await say_to_help(noted, f"forget {note.code.lower()}", 4)
    assert "There is no note" in await say_to_help(noted, f"forget {note.code}", 5)
    assert "Forgotten: all 1 notes." in await say_to_help(noted, "forget everything", 6)
    assert known(noted) == []
    assert "Memory is off" in await say_to_help(noted, "memory off", 7)


async def test_the_same_mail_twice_is_one_note(noted: Person) -> None:
    mail = noted.compose(HELP, "Memory", "remember: once")
    for _ in range(2):
        await noted.submit(mail)
    await noted.settled()
    assert [note.text for note in known(noted)].count("once") == 1


async def test_another_account_sees_and_reaches_nothing(noted: Person) -> None:
    bob = await noted.desk.person("bob")
    [note] = known(noted)
    assert TEA not in await say_to_help(bob, "memory", 1)
    assert "There is no note" in await say_to_help(bob, f"forget {note.code}", 2)
    stolen = await noted.mail(TEA, "Memory")
    await bob.reply(stolen, "forget")
    await bob.settled()
    assert known(noted) == [note]
    assert known(bob) == []


async def test_from_the_command_line(noted: Person) -> None:
    app = noted.desk.app
    with pytest.raises(ControlError):
        await add(app, Args({"account": "ada", "text": "  "}))
    made = await add(app, Args({"account": "ada", "text": "No calls before ten.", "agent": "assistant"}))
    told = await listed(app, Args({"account": "ada"}))
    assert (told["on"], len(told["notes"])) == (True, 2)
    assert json.loads(json.dumps(told)) == told
    assert (await forget(app, Args({"account": "ada", "note": made["code"]})))["forgotten"] == [made["code"]]
    with pytest.raises(ControlError, match="has no note"):
        await forget(app, Args({"account": "ada", "note": made["code"]}))
    with pytest.raises(ControlError, match="no agent"):
        await add(app, Args({"account": "ada", "text": "x", "agent": "nobody"}))
    assert len((await forget(app, Args({"account": "ada"})))["forgotten"]) == 1
    assert (await turn(app, Args({"account": "ada", "on": False})))["changed"] is True
    assert (await turn(app, Args({"account": "ada", "on": False})))["changed"] is False
