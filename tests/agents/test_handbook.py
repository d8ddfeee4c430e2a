"""The handbook: every address, number and word in it is that of the installation."""

import dataclasses
from pathlib import Path

import pytest

from agents import skills
from agents.guide import SKILL, TAG, with_model
from agents.handbook import Handbook
from config.settings import Agent, Fetch, Files, Limits, Listen, Model, Relay, Settings

READY = skills.load([skills.builtin_folder()])


def book(home: Path, **more: object) -> Handbook:
    settings = dataclasses.replace(Settings(home), **more)  # type: ignore[arg-type]  # passed on
    return Handbook(settings, READY.profiles)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("How do I begin?", "starting"),
        ("Which addresses can I write to?", "addresses"),
        ("how do I approve a request", "approving"),
        ("How can I stop a task?", "thread words"),
        ("remind me every day", "schedules"),
        ("Can it remember things?", "memory"),
        ("Can you read my PDF files?", "files"),
        ("Which model do you use?", "models"),
        ("what skills are there", "specialists"),
        ("add an MCP server", "MCP servers"),
        ("can you fetch a web page", "the web"),
        ("What does it cost, is there a limit?", "limits"),
        ("Can you send mail outside?", "outside mail"),
        ("what is the mailbox Activity for", "mailboxes"),
        ("set up Thunderbird on my phone", "mail clients"),
        ("Is my data private?", "privacy"),
    ],
)
def test_a_question_finds_its_topic(tmp_path: Path, question: str, topic: str) -> None:
    assert topic in book(tmp_path).find(question)


def test_what_it_does_not_know_gets_the_overview(tmp_path: Path) -> None:
    told = book(tmp_path).answer("Wie wird das Wetter?")
    assert "You can ask about:" in told
    assert "assistant@postroom.internal" in told


def test_the_facts_are_those_of_the_settings(tmp_path: Path) -> None:
    made = book(
        tmp_path,
        domain="home.example",
        timezone="Europe/Berlin",
        agents={"butler": Agent("butler", display="Butler", model="haiku", memory=False)},
        models={"demo": Settings(tmp_path).models["demo"], "haiku": Model("haiku", model="anthropic/claude-haiku")},
        limits=Limits(model_calls=7, cost_run_eur=0.25),
        listen=Listen(imap=2143, web=9000),
        relay=Relay(host="mail.example.net", sender="ada@example.net"),
        fetch=Fetch(mode="off"),
        files=Files((Path("/srv/shared"),)),
    )
    wanted = {
        "addresses": ("butler@home.example: Butler", "summariser@home.example", "tags here: demo, haiku"),
        "schedules": ("schedule@home.example", "Europe/Berlin"),
        "memory": ("help@home.example", "then no agent here may"),
        "models": ("haiku (anthropic/claude-haiku)", "butler uses haiku"),
        "limits": ("7 model calls", "0.25 EUR"),
        "mail clients": ("IMAP 2143", "port 9000"),
        "outside mail": ("mail.example.net", "ada@example.net"),
        "the web": ("fetch no web pages here",),
        "files": ("below /srv/shared",),
        "privacy": (str(tmp_path), "anthropic/claude-haiku"),
    }
    for topic, facts in wanted.items():
        text = made.topics[topic].text()
        assert [fact for fact in facts if fact not in text] == [], topic


def test_without_models_or_relay_it_says_so(tmp_path: Path) -> None:
    made = book(tmp_path)
    assert "No language model is configured" in made.topics["models"].text()
    assert "no relay is configured" in made.topics["outside mail"].text()
    assert "waits for your approval" in made.topics["the web"].text()


def test_every_topic_says_something_short(tmp_path: Path) -> None:
    for topic in book(tmp_path).topics.values():
        assert 80 < len(topic.text()) < 1200, topic.name


def test_the_guide_has_fixed_rules_only_where_there_is_no_model(tmp_path: Path) -> None:
    guide = READY.ready[SKILL]
    assert guide.tools == ("postroom_help",)
    plain = Settings(tmp_path)
    assert with_model(plain, guide).model == TAG
    real = dataclasses.replace(plain, agents={"a": Agent("a", model="haiku")})
    assert with_model(real, guide) is guide  # it has a model as any specialist has
    assert with_model(real, READY.ready["summariser"]).model is None
