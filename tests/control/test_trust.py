"""The audit trail and the standing approvals, through the socket, over a real store and runtime."""

from pathlib import Path

import pytest

from bridge.control.protocol import Args, ControlError
from bridge.control.trust import audit, grants, revoke
from tests.control.conftest import Ask
from tests.post.desk import AGENT, Kept, Person, desk

LUNCH = "Send a mail to maya@example.org with the subject Lunch and the text: See you at noon."


async def asked(person: Person, subject: str = "Lunch", nth: int = 1) -> Kept:
    await person.write(AGENT, subject, LUNCH)
    return await person.mail("Approve?", nth=nth)


def code_of(request: Kept) -> str:
    return str(request.message["Subject"]).rpartition("[")[2].rstrip("]")


async def test_the_trail_of_a_request_says_who_when_how_and_with_which_arguments(tmp_path: Path) -> None:
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        request = await asked(ada)
        await ada.reply(request, "Approve!")
        await house.sink.wait(1)
        await ada.mail("Re: Lunch")
        told = await audit(house.app, Args({"code": code_of(request).lower()}))
        whats = [entry["what"] for entry in told["entries"]]
        assert whats[-4:] == ["request.opened", "approval.approved", "approval.spent", "mail.sent"]
        decided = next(each["facts"] for each in told["entries"] if each["what"] == "approval.approved")
        assert decided["by"] == ada.address
        assert decided["via"] == "laptop over SMTP"
        assert decided["line"] == "Approve!"
        assert decided["rule"]
        (item,) = told["asked"]
        assert item["arguments"]["to"] == ["maya@example.org"]
        assert item["args_hash"] == decided["args_hash"]
        assert told["state"] == "approved"


async def test_an_edited_request_keeps_the_hash_of_what_was_shown_first(tmp_path: Path) -> None:
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        request = await asked(ada)
        await ada.reply(request, "edit\nSubject: Dinner")
        await ada.mail("Approve?", nth=2)
        told = await audit(house.app, Args({"code": code_of(request)}))
        first, second = told["asked"]
        assert (first["revision"], first["arguments"], first["state"]) == (1, None, "edited")
        assert second["arguments"]["subject"] == "Dinner"
        assert first["args_hash"] != second["args_hash"]


async def test_the_newest_entries_without_a_code_and_an_unknown_code(tmp_path: Path) -> None:
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await asked(ada)
        told = await audit(house.app, Args({"count": 1}))
        assert [entry["what"] for entry in told["entries"]] == ["request.opened"]
        with pytest.raises(ControlError, match="nothing is known"):
            await audit(house.app, Args({"code": "A-ZZZZ"}))


async def test_another_accounts_request_has_no_trail_here(tmp_path: Path) -> None:
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await house.person("eve")
        request = await asked(ada)
        with pytest.raises(ControlError, match="nothing is known"):
            await audit(house.app, Args({"account": "eve", "code": code_of(request)}))


async def test_standing_approvals_are_listed_and_taken_back(tmp_path: Path) -> None:
    async with desk(tmp_path / "home") as house:
        ada = await house.person("ada")
        await ada.reply(await asked(ada), "always approve")
        await house.sink.wait(1)
        await ada.mail("Re: Lunch")
        (grant,) = (await grants(house.app, Args({})))["grants"]
        assert grant["arguments"]["to"] == ["maya@example.org"]
        assert (await revoke(house.app, Args({"grant": grant["code"].lower()})))["revoked"]
        assert (await grants(house.app, Args({})))["grants"] == []
        with pytest.raises(ControlError, match="no standing approval"):
            await revoke(house.app, Args({"grant": grant["code"]}))
        await asked(ada, "Lunch again", nth=2)
        assert len(house.sink.messages) == 1


async def test_over_the_socket(ask: Ask) -> None:
    await ask("account.add", name="ada")
    assert (await ask("audit", account="ada"))["entries"] == []
    assert (await ask("grants", account="ada"))["grants"] == []
