"""Files in both directions: read whatever their names and types are called, and given back as attachments."""

import io
import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

import pytest

from agents import discover
from agents.mails import MAX_BODY
from bridge.post.accept import LARGE
from tests.agents.script import ScriptedModel, Turn, say, want
from tests.post.desk import AGENT, NOTES, Desk, Person, desk

PLAN = b"Plant the trees."


def zipped(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(name, content)
    return out.getvalue()


def scripted(monkeypatch: pytest.MonkeyPatch, turns: Sequence[Turn], **by_name: Sequence[Turn]) -> ScriptedModel:
    model = ScriptedModel({**by_name, "": turns})
    monkeypatch.setattr(discover, "models", lambda *_: {"demo": model})
    return model


def attached(message: EmailMessage) -> dict[str, bytes]:
    found = {str(part.get_filename()): part.get_payload(decode=True) for part in message.iter_attachments()}
    return {name: data for name, data in found.items() if isinstance(data, bytes)}


def results(model: ScriptedModel) -> list[str]:
    return [message.text for message in model.requests[-1].messages if hasattr(message, "ok")]


async def sent(person: Person, *files: tuple[str, bytes, str]) -> None:
    mail = person.compose(AGENT, "Files", "read them")
    for name, data, kind in files:
        main, _, sub = kind.partition("/")
        mail.add_attachment(data, maintype=main, subtype=sub, filename=name)
    await person.submit(mail)
    await person.mail("Re: Files")


async def test_names_and_types_as_clients_write_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 2231 names in one piece and in several, and types that say nothing."""
    long = "Protokoll der außerordentlichen Mitgliederversammlung des Vereins für Bäume und Büsche 2026.txt"
    names = ["plan.txt", "Pläne für Mai.txt", long, "日程.md"]
    model = scripted(monkeypatch, [say("", *(want("read_attachment", ref=name) for name in names)), say("Read.")])
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await sent(ada, *((name, PLAN, "application/octet-stream") for name in names))
    assert [text.count("Plant the trees.") for text in results(model)] == [1, 1, 1, 1]


async def test_an_archive_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [want("read_attachment", ref="all.zip"), want("read_attachment", ref="all.zip", inside="a/plan.txt")]
    model = scripted(monkeypatch, [say("", *calls), say("Read.")])
    async with desk(tmp_path / "home") as house:
        await sent(await house.person("ada"), ("all.zip", zipped("a/plan.txt", PLAN), "application/x-zip-compressed"))
    listed, text = results(model)
    assert "- a/plan.txt (16 bytes)" in listed
    assert "Plant the trees." in text


async def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scripted(monkeypatch, [say("", want("read_attachment", ref="song.mp3")), say("It is a song.")])
    async with desk(tmp_path / "home") as house:
        await sent(await house.person("ada"), ("song.mp3", b"\xff\xfb\x00", "audio/mpeg"))
    assert "song.mp3 cannot be read: its type audio/mpeg has no text" in results(model)[0]


async def test_files_that_were_made_come_with_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a specialist too; the names are as the agent gave them."""
    script = [say("", want("attach_file", name="Preise für Mai.csv", text="Tee;3\n")), say("Done.")]
    scripted(monkeypatch, script)
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await ada.write(AGENT, "Prices", "make a table")
        result = await ada.mail("Re: Prices")
    assert attached(result.message) == {"Preise für Mai.csv": b"Tee;3\n"}
    [part] = result.message.iter_attachments()
    assert part.get_content_type() == "text/csv"


@pytest.mark.parametrize("name", ["../x.txt", "a/b", "a\nb", " . ", ""])
async def test_names_that_are_no_names_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    model = scripted(monkeypatch, [say("", want("attach_file", name=name, text="x")), say("No.")])
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await ada.write(AGENT, "Prices", "make a table")
        result = await ada.mail("Re: Prices")
    assert attached(result.message) == {}
    assert "name" in results(model)[0]


async def test_an_answer_too_long_for_a_mail_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = "Chapter one.\n\n" + "All the words. " * (MAX_BODY // 10)
    scripted(monkeypatch, [say(whole)])
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await ada.write(AGENT, "Book", "write a book")
        result = await ada.mail("Re: Book")
    assert attached(result.message)["answer.md"].decode() == whole
    assert "the whole is attached as answer.md" in result.text
    assert len(result.text) < MAX_BODY


async def test_a_draft_has_the_files_of_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    to = {"to": ["maya@example.org"], "subject": "The plan", "text": "Here it is."}
    calls = [want("draft_mail", **to, attachments=["plän.txt"]), want("draft_mail", **to, attachments=["none.txt"])]
    model = scripted(monkeypatch, [say("", *calls), say("Drafted.")])
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await sent(ada, ("plän.txt", PLAN, "text/plain"))
        [draft] = ada.mails("Drafts")
        assert attached(draft.message) == {"plän.txt": PLAN}
    assert 'there is no attached file "none.txt"' in results(model)[1]


async def test_a_draft_cannot_have_a_file_of_another_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path / "home") as house:
        secret = await _stored_file(house)
    model = scripted(
        monkeypatch, [say("", want("draft_mail", to=[], subject="x", text="y", attachments=[secret])), say("No.")]
    )
    async with desk(tmp_path / "home") as house:
        bob = await house.person("bob")
        await bob.write(AGENT, "Mine", "draft it")
        await bob.mail("Re: Mine")
        assert bob.mails("Drafts") == []
    assert "there is no attached file" in results(model)[0]


async def _stored_file(house: Desk) -> str:
    """The reference of a file in ada's mail."""
    ada = await house.person("ada")
    mail = ada.compose(AGENT, "Secret", "keep it", {"secret.txt": "secret"})
    await ada.submit(mail)
    await ada.settled()
    [kept] = ada.mails("Sent")
    return f"E{kept.email}/2"


async def test_a_mail_too_large_to_be_read_in_the_loop_is_taken_like_any_other(tmp_path: Path) -> None:
    """It is parsed on a thread, where the store cannot be read; where it goes is looked up in the loop."""
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await ada.write(AGENT, "Minutes", "Sum this up.", files={"notes.txt": NOTES + "\n" + "x" * LARGE})
        result = await ada.mail("Re: Minutes")
        assert "The team met on Tuesday in the small hall." in result.text
