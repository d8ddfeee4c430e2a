"""How to use this Postroom, in short texts made from the installed settings.

The rule: every address, number and word in here is read from what is installed now, so that an answer is true where it
is given. What is configured but secret (keys, passwords) is not in it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.profile import Profile
from config.settings import DEMO_MODEL, Settings

MOST: Final = 2
"""Topics that one question is answered with."""

_WORD: Final = re.compile(r"[\w-]+")
_CLIENT_WORDS: Final = tuple("client thunderbird outlook phone port imap password login connect set-up setup".split())


@dataclass(frozen=True, slots=True)
class Topic:
    """One subject: words that a question about it has (beginnings of words), and its text."""

    name: str
    about: tuple[str, ...]
    text: Callable[[], str]


class Handbook:
    """The texts of one installation. `skills` gives the ready specialists."""

    def __init__(self, settings: Settings, skills: Callable[[], Sequence[Profile]]) -> None:
        self._settings = settings
        self._skills = skills
        self.topics: Mapping[str, Topic] = {topic.name: topic for topic in self._topics()}

    def answer(self, question: str) -> str:
        """What there is to say to a question: the topics that fit best, else an overview."""
        found = self.find(question)
        return "\n\n".join(self.topics[name].text() for name in found) if found else self.overview()

    def find(self, question: str) -> list[str]:
        """The topics that fit a question, the best first."""
        words = [word.lower() for word in _WORD.findall(question)]
        scored = [(self._score(topic, words), topic.name) for topic in self.topics.values()]
        best = max((score for score, _ in scored), default=0)
        fitting = [(score, name) for score, name in scored if score and score * 2 >= best]
        return [name for _, name in sorted(fitting, key=lambda found: -found[0])][:MOST]

    def _score(self, topic: Topic, words: Sequence[str]) -> int:
        return sum(any(word.startswith(mark) for mark in topic.about) for word in words)

    def overview(self) -> str:
        """What one can ask about, and where to begin."""
        names = ", ".join(sorted(self.topics))
        return f"{self._start()}\n\nYou can ask about: {names}."

    def _topics(self) -> list[Topic]:
        return [
            Topic("starting", ("start", "begin", "first", "use", "work", "postroom"), self._start),
            Topic("addresses", ("address", "who", "agent", "write", "recipient"), self._addresses),
            Topic("approving", ("approv", "reject", "decid", "decision", "action", "request", "grant"), _approving),
            Topic("thread words", ("stop", "cancel", "retry", "continue", "status", "undo", "delete", "trash"), _words),
            Topic("schedules", ("schedul", "remind", "every", "daily", "cron", "zone", "automation"), self._times),
            Topic("memory", ("memor", "remember", "forget", "note"), self._memory),
            Topic("files", ("file", "folder", "attach", "document", "pdf", "docx", "zip"), self._files),
            Topic("models", ("model", "ai", "demo", "llm", "provider", "key", "claude", "gpt", "ollama"), self._models),
            Topic("specialists", ("skill", "specialist", "delegat", "plugin", "import"), self._specialists),
            Topic("MCP servers", ("mcp", "server", "tool"), _mcp),
            Topic("the web", ("web", "page", "internet", "fetch", "url", "link", "site"), self._web),
            Topic("limits", ("limit", "cost", "money", "budget", "price", "eur", "expens", "token"), self._limits),
            Topic("outside mail", ("send", "outside", "relay", "smtp", "forward", "reply"), self._outside),
            Topic("mailboxes", ("mailbox", "inbox", "activity", "unread", "archive", "drop"), _mailboxes),
            Topic("mail clients", _CLIENT_WORDS, self._clients),
            Topic("privacy", ("privacy", "private", "data", "secur", "safe", "where", "backup"), self._privacy),
        ]

    def _address(self, name: str) -> str:
        return self._settings.address(name)

    def _first(self) -> str:
        return next(iter(self._settings.agents))

    def _start(self) -> str:
        first = self._address(self._first())
        return (
            f"Write a mail to {first} and say what you want; a new subject is a new task, a reply goes on with it. "
            "Attach what it needs. The result comes to your INBOX. An act with consequences waits in the mailbox "
            'Action until you answer it with "approve".'
        )

    def _addresses(self) -> str:
        lines = [f"- {self._address(name)}: {agent.display or name}" for name, agent in self._settings.agents.items()]
        lines += [f"- {self._address(skill.name)}: {skill.description}" for skill in self._skills()]
        lines.append(f"- {self._address('schedule')}: sets schedules and reminders from plain words")
        lines.append(f"- {self._address('help')}: explains, and takes words about grants, memory and folders")
        tags = ", ".join(sorted(self._settings.models))
        how = f"A tag picks a model for the thread, such as {self._first()}+TAG. The tags here: {tags}."
        return "\n".join(["You can write to:", *lines, "", how])

    def _times(self) -> str:
        zone = self._settings.zone().key
        return (
            f'Write to {self._address("schedule")}, for example "every weekday at 8: summarise my inbox". It answers '
            f'with the next runs and is armed when you answer "approve". Times are in {zone}. Each schedule is a '
            'message in the mailbox Automations: answer it with "run now", "pause", "resume" or "delete".'
        )

    def _memory(self) -> str:
        able = [agent.display or name for name, agent in self._settings.agents.items() if agent.memory]
        who = ", ".join(able) or "no agent here"
        return (
            f'Memory is off until you write "memory on" to {self._address("help")}; then {who} may keep short notes '
            'and read them in later tasks. "memory" lists them, "remember: ..." adds one of yours, "forget" and a name '
            "takes one away. Each note is a message in the mailbox Memory; to delete it is to forget it."
        )

    def _files(self) -> str:
        roots = ", ".join(map(str, self._settings.files.by_mail))
        by_mail = f' By mail, "grant folder PATH" works below {roots}.' if roots else ""
        return (
            "Attach files to your mail: text, HTML, PDF, Word and CSV are read, ZIP files looked into. Files that an "
            "agent makes come attached to its result. An agent reaches a folder of this machine only when it was "
            f'granted with `postroom folders grant PATH`, for reading unless --write was said.{by_mail} "folders" to '
            f'{self._address("help")} lists what is granted, "revoke folder" and a name takes it back.'
        )

    def _models(self) -> str:
        real = [model for tag, model in self._settings.models.items() if tag != DEMO_MODEL]
        used = {name: agent.model for name, agent in self._settings.agents.items()}
        said = "; ".join(f"{name} uses {tag}" for name, tag in used.items())
        if not real:
            return (
                "No language model is configured: the built-in demo model answers, by fixed rules and without AI. To "
                "set one, write a table [models.NAME] with model and api_key into postroom.toml in the data folder, "
                "and name it as the model of an agent; `postroom models` lists what is configured."
            )
        names = ", ".join(f"{model.name} ({model.model})" for model in real)
        return (
            f"Configured: {names}. Here {said}. A tag picks another one for a thread: {self._first()}+{real[0].name}@."
        )

    def _specialists(self) -> str:
        ready = "\n".join(f"- {self._address(skill.name)}: {skill.description}" for skill in self._skills())
        return (
            f"Ready specialists, each with an address of its own:\n{ready or '- none'}\n\n`postroom skills list` shows "
            "all of them and what is in the way of the others; `postroom skills import FILE` takes a ZIP file of "
            "skills or a plugin, `enable` and `disable` turn one on and off."
        )

    def _web(self) -> str:
        fetch = self._settings.fetch
        how = {
            "off": "Agents fetch no web pages here (fetch.mode is off).",
            "ask": "Each web page that an agent wants to fetch waits for your approval.",
            "allow": "Agents fetch web pages by themselves, but once a task has read text of others, each address "
            "asks.",
        }[fetch.mode]
        private = ", ".join(fetch.allow_private)
        reached = f"of private places only {private}" if private else "no private place (this machine, your network)"
        return f"{how} They reach {reached}."

    def _limits(self) -> str:
        limits = self._settings.limits
        return (
            f"A task may use {limits.model_calls} model calls, {limits.tool_calls} tool calls, {limits.tokens:,} "
            f"tokens, {limits.cost_run_eur:g} EUR and {limits.run_minutes} minutes of work; an agent "
            f"{limits.cost_agent_day_eur:g} EUR in a day, all together {limits.cost_day_eur:g} EUR. At a limit it "
            'pauses and says so: answer "continue", or a sum such as "raise to 2 EUR".'
        )

    def _outside(self) -> str:
        relay = self._settings.relay
        if relay is None:
            return (
                "No mail leaves this Postroom: no relay is configured. An agent can write a draft into Drafts for you. "
                "To let mail out, write a table [relay] into postroom.toml."
            )
        return (
            f"Mail leaves by your relay {relay.host}, from {relay.sender}, and only after you approved it as it is "
            "shown. Agents can also write drafts into Drafts."
        )

    def _clients(self) -> str:
        listen = self._settings.listen
        host = listen.hosts[0] if listen.hosts else "127.0.0.1"
        return (
            f"Server {host}: IMAP {listen.imap} (STARTTLS) or {listen.imaps} (TLS), SMTP {listen.smtp} (STARTTLS) or "
            f"{listen.smtps} (TLS); log in with your full address and a password of `postroom password add`, one for "
            f"each device. The set-up page is on port {listen.web}."
        )

    def _privacy(self) -> str:
        places = sorted({model.model for tag, model in self._settings.models.items() if tag != DEMO_MODEL})
        sent = f"prompts to the provider of {', '.join(places)}" if places else "no prompts, as no model is configured"
        return (
            f"Everything is kept in {self._settings.home}. What leaves: {sent}; calls of tools to the MCP servers you "
            "turned on; pages you let be fetched; mail you approved. The footer of each result names who received data."
        )


def _approving() -> str:
    return (
        'Answer the request with the one word "approve" and exactly what it shows happens, once; "reject" refuses it, '
        'with a reason after a colon if you like; "edit" and changed lines show it again. Any other text goes to the '
        'agent and nothing is done. "always approve" allows exactly this from then on, where it is offered; "grants" '
        "lists that."
    )


def _words() -> str:
    return (
        'Answer a mail of the task with one word alone: "stop" ends it, "retry" tries again, "continue" goes on after '
        'a limit, "status" says how it stands. To move its mail to Trash stops it too, and to delete it there deletes '
        "what is known of it; mail that went out stays out."
    )


def _mcp() -> str:
    return (
        "MCP servers stand in .mcp.json in the data folder. `postroom mcp list` shows how they are, `mcp enable` and "
        "`mcp disable` turn one on and off, `mcp approve` allows a tool; until then each call of it asks."
    )


def _mailboxes() -> str:
    return (
        "INBOX has what wants you, Action what waits for a decision, Activity what is and was done, Automations your "
        "schedules, Memory the notes. A message put into Agents/NAME is given to that agent as material."
    )
