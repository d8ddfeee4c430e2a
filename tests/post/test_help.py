"""`help@`: words are obeyed, questions answered from what is installed, without any language model."""

from bridge.submissions import Receipt
from tests.post.desk import Desk, Person

HELP = "help@postroom.internal"


async def asked(person: Person, subject: str, text: str) -> str:
    await person.write(HELP, subject, text)
    return (await person.mail(f"Re: {subject}")).text


async def test_a_question_is_answered_by_the_guide(ada: Person) -> None:
    told = await asked(ada, "Timetable", "How do I set a schedule for every Monday?")
    assert "schedule@postroom.internal" in told
    assert "armed when you answer" in told
    assert "Guide, demo (no AI)" in told
    assert "Tools: postroom_help 1" in told
    assert "Data went to: nobody outside this machine" in told


async def test_a_question_may_stand_in_the_subject(ada: Person) -> None:
    assert "Ready specialists" in await asked(ada, "Which skills are there?", "")


async def test_a_follow_up_goes_on_in_the_thread(ada: Person) -> None:
    await ada.write(HELP, "Question", "Can agents remember things?")
    first = await ada.mail("Re: Question")
    assert "Memory is off until" in first.text
    await ada.reply(first, "And what does it cost, is there a limit?")
    assert "model calls" in (await ada.mail("Re: Question", nth=2)).text


async def test_help_alone_and_nothing_get_the_overview_at_once(ada: Person) -> None:
    assert "You can write to: assistant@postroom.internal" in await asked(ada, "One", "help")
    assert "You can write to:" in await asked(ada, "Two", "Hilfe")


async def test_the_guide_has_an_address_of_its_own(house: Desk, ada: Person) -> None:
    mail = ada.compose("guide@postroom.internal", "Ask", "What about my privacy?")
    assert isinstance(await ada.submit(mail), Receipt)
    assert str(house.app.settings.home) in (await ada.mail("Re: Ask")).text
