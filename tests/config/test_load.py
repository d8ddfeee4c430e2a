"""One load: defaults, file, environment, flags, in this order; every fault at once with its place and its fix."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from config import load as loading
from config.errors import ConfigError, Fault
from config.load import load, prepare_library_environment, setting_names
from config.settings import Limits, Settings


def write(home: Path, text: str) -> Path:
    file = home / "postroom.toml"
    file.write_text(text)
    return file


def faults(home: Path, text: str = "", environ: Mapping[str, str] | None = None, **flags: object) -> list[Fault]:
    write(home, text)
    with pytest.raises(ConfigError) as caught:
        load(home=home, environ=environ or {}, flags={name.replace("__", "."): value for name, value in flags.items()})
    return list(caught.value.faults)


def only(found: list[Fault]) -> Fault:
    assert len(found) == 1, [str(fault) for fault in found]
    return found[0]


# Sources and their order


def test_without_a_file_there_is_one_demo_assistant_and_no_relay(tmp_path: Path) -> None:
    settings = load(home=tmp_path, environ={})
    assert settings == Settings(tmp_path)
    assert list(settings.agents) == ["assistant"]
    assistant = settings.agents["assistant"]
    assert (assistant.display, assistant.model, assistant.skills) == ("Assistant", "demo", ("summariser",))
    assert settings.models["demo"].provider == "demo"
    assert settings.relay is None
    assert settings.address("you") == "you@postroom.internal"


def test_file_environment_and_flags_win_in_this_order(tmp_path: Path) -> None:
    write(tmp_path, "[listen]\nimap = 1\nimaps = 2\nsmtp = 3\n")
    environ = {"POSTROOM_LISTEN__IMAPS": "20", "POSTROOM_LISTEN__SMTP": "30"}
    listen = load(home=tmp_path, environ=environ, flags={"listen.smtp": "300"}).listen
    assert (listen.imap, listen.imaps, listen.smtp, listen.smtps) == (1, 20, 300, 1465)


def test_the_environment_names_levels_with_two_underscores(tmp_path: Path) -> None:
    environ = {
        "POSTROOM_REQUIRE_TLS": "false",
        "POSTROOM_IMAP__EXTENSIONS": "all",
        "POSTROOM_LISTEN__HOSTS": "127.0.0.1, ::1",
        "POSTROOM_AGENTS__ASSISTANT__TRUST_ATTACHMENTS": "yes",
        "POSTROOM_APPROVALS__EXPIRE_HOURS": "0.5",
    }
    settings = load(home=tmp_path, environ=environ)
    assert settings.require_tls is False
    assert settings.imap.extensions == "all"
    assert settings.listen.hosts == ("127.0.0.1", "::1")
    assert settings.agents["assistant"].trust_attachments is True
    assert settings.agents["assistant"].display == "Assistant"
    assert settings.approvals.expire_hours == 0.5


@pytest.mark.parametrize(
    ("written", "expected"),
    [("default", "default"), ("all", "all"), ("IDLE,MOVE", ("IDLE", "MOVE")), ('["IDLE"]', ("IDLE",))],
)
def test_extensions_are_a_word_or_a_list(tmp_path: Path, written: str, expected: object) -> None:
    assert load(home=tmp_path, environ={"POSTROOM_IMAP__EXTENSIONS": written}).imap.extensions == expected


def test_the_home_is_the_flag_then_the_variable(tmp_path: Path) -> None:
    environ = {"POSTROOM_HOME": str(tmp_path / "variable")}
    assert load(home=tmp_path / "flag", environ=environ).home == tmp_path / "flag"
    assert load(environ=environ).home == tmp_path / "variable"


def test_a_named_file_may_say_where_the_home_is(tmp_path: Path) -> None:
    file = write(tmp_path, f'home = "{tmp_path / "data"}"')
    assert load(config_file=file, environ={}).home == tmp_path / "data"
    assert load(environ={"POSTROOM_CONFIG": str(file)}).home == tmp_path / "data"
    assert load(config_file=file, home=tmp_path / "flag", environ={}).home == tmp_path / "flag"


def test_a_file_found_in_the_home_cannot_move_the_home(tmp_path: Path) -> None:
    assert only(faults(tmp_path, 'home = "/elsewhere"')).key == "home"


def test_named_agents_are_all_the_agents_and_limits_build_on_the_general_ones(tmp_path: Path) -> None:
    text = """
    [limits]
    runs = 7
    [models.haiku]
    model = "anthropic/claude-haiku"
    [agents.night-desk]
    model = "haiku"
    tools = ["search_mail"]
    [agents.night-desk.limits]
    tokens = 5000
    """
    write(tmp_path, text)
    settings = load(home=tmp_path, environ={})
    assert list(settings.agents) == ["night-desk"]
    assert settings.agents["night-desk"].display == "Night desk"
    assert settings.limits_of("night-desk") == Limits(runs=7, tokens=5000)
    assert settings.limits_of("some-skill") == Limits(runs=7)
    assert sorted(settings.models) == ["demo", "haiku"]


def test_the_relay_is_read_with_from_as_its_sender(tmp_path: Path) -> None:
    write(tmp_path, '[relay]\nhost = "127.0.0.1"\nport = 2525\nfrom = "ada@example.org"\ntls = "none"\n')
    relay = load(home=tmp_path, environ={}).relay
    assert relay is not None
    assert (relay.host, relay.port, relay.sender, relay.tls) == ("127.0.0.1", 2525, "ada@example.org", "none")


# Faults: where, what, how to mend


def test_a_session_is_never_ended_before_half_an_hour_of_silence(tmp_path: Path) -> None:
    """RFC 9051 section 5.4."""
    # req 5.4-setting
    # req rfc9051/5.4-setting
    assert only(faults(tmp_path, "[imap]\nidle_seconds = 1799\n")).key == "imap.idle_seconds"
    write(tmp_path, "[imap]\nidle_seconds = 1800\n")
    assert load(home=tmp_path, environ={}).imap.idle_seconds == 1800


def test_all_faults_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = 'requre_tls = true\ndomain = 3\n[listen]\n\nimap = 70000\n[agents.assistant]\nmodel = "hiku"\n'
    found = faults(tmp_path, text + '[models.haiku]\nmodel = "anthropic/claude-haiku"\n')
    assert [(fault.line, fault.key) for fault in found] == [
        (1, "requre_tls"),
        (2, "domain"),
        (5, "listen.imap"),
        (7, "agents.assistant.model"),
    ]
    assert {fault.file for fault in found} == {str(tmp_path / "postroom.toml")}
    assert found[0].fix == "did you mean require_tls?"
    assert found[3].fix == "did you mean haiku?"


def test_the_error_text_shows_file_line_key_and_fix(tmp_path: Path) -> None:
    write(tmp_path, "[listen]\nimap = 70000\n")
    with pytest.raises(ConfigError) as caught:
        load(home=tmp_path, environ={})
    expected = f"1 fault in the configuration\n{tmp_path}/postroom.toml:2: listen.imap: 70000 is too large\n"
    assert str(caught.value) == expected + "    fix: write 65535 or less"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = \n", 2),
        ("a = 'open\n", 1),
        ("[listen]\n[listen]\n", 2),
    ],
)
def test_a_file_that_is_not_toml_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    fault = only(faults(tmp_path, text))
    assert fault.line == line
    assert "is not TOML" in fault.message


def test_a_named_file_that_is_missing_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(config_file=tmp_path / "none.toml", home=tmp_path, environ={})


def test_a_file_that_cannot_be_looked_at_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "postroom.toml").symlink_to("postroom.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(home=tmp_path, environ={})


def test_a_file_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "postroom.toml").write_bytes(b'user = "\xff"')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load(home=tmp_path, environ={})


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        ("require_tls = 1", "require_tls", "neither true nor false"),
        ('require_tls = "false"', "require_tls", "neither true nor false"),
        ("[listen]\nimap = true", "listen.imap", "not a whole number"),
        ("[listen]\nimap = -1", "listen.imap", "too small"),
        ("[listen]\nimap = 1.5", "listen.imap", "not a whole number"),
        ('[listen]\nhosts = "127.0.0.1"', "listen.hosts", "not a list"),
        ("[listen]\nhosts = [1]", "listen.hosts", "not text"),
        ("[listen]\nhosts = []", "listen.hosts", "names no address"),
        ('[listen]\nhosts = ["mail.example.org"]', "listen.hosts", "not an address"),
        ("[listen]\nimap = 2000\nweb = 2000", "listen.web", "also the port of imap"),
        ("listen = 3", "listen", "a table of settings"),
        ("[user]\nname = 3", "user", "one value, not a table"),
        ("[limits]\ncost_day_eur = nan", "limits.cost_day_eur", "not a number"),
        ("[limits]\ncost_day_eur = inf", "limits.cost_day_eur", "not a number"),
        ("[approvals]\nexpire_hours = 0", "approvals.expire_hours", "too small"),
        ('[log]\nlevel = "loud"', "log.level", "not one of the choices"),
        ('domain = "no domain"', "domain", "not a domain"),
        ('user = "Ada"', "user", "not a name that can stand in an address"),
        ('languages = ["English"]', "languages", "not a language"),
        ("agents = 3", "agents", "a table of tables"),
        ("[agents]\nassistant = 3", "agents.assistant", "a table of settings"),
        ('[agents.assistant]\nname = "other"', "agents.assistant.name", "not a setting"),
        ("[agents.Bad]\ntools = []", "agents.Bad", "not a name that can stand in an address"),
        ('[agents.x]\ndisplay = "a/b"', "agents.x.display", "no folder can have"),
        ("[models.haiku]\nprice_in = 1", "models.haiku.model", "is missing"),
        ('[models.demo]\nmodel = "x"\nprovider = "litellm"', "models.demo.provider", "built-in"),
        ("[agents.x.limits]\nruns = 0", "agents.x.limits.runs", "too small"),
    ],
)
def test_a_value_that_does_not_fit_is_named(tmp_path: Path, text: str, key: str, part: str) -> None:
    fault = only(faults(tmp_path, text))
    assert fault.key == key
    assert part in fault.message
    assert fault.line == text.count("\n") + 1
    assert fault.fix


def test_other_machines_need_tls(tmp_path: Path) -> None:
    text = 'require_tls = false\n[listen]\nhosts = ["127.0.0.1", "0.0.0.0"]'
    fault = only(faults(tmp_path, text))
    assert (fault.key, fault.line) == ("listen.hosts", 3)
    assert "in clear" in fault.message
    write(tmp_path, text.replace("false", "true"))
    assert load(home=tmp_path, environ={}).listen.hosts == ("127.0.0.1", "0.0.0.0")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[relay]\nport = 25", ["relay.host", "relay.from"]),
        ('[relay]\nhost = "mail.example.net"\nfrom = "a@b.c"\ntls = "none"', ["relay.tls"]),
        ('[relay]\nhost = "mail.example.net"\nfrom = "ada"', ["relay.from"]),
        ('[relay]\nhost = "h"\nfrom = "a@b.c"\nusername = "ada"', ["relay.password"]),
        ('[relay]\nhost = "h"\nfrom = "a@b.c"\npassword = "env:P"', ["relay.username"]),
        ('[relay]\nhost = "h"\nfrom = "a@b.c"\nbounce_mailbox = "x y@z"', ["relay.bounce_mailbox"]),
    ],
)
def test_a_relay_is_whole_and_never_in_clear_to_another_machine(tmp_path: Path, text: str, keys: list[str]) -> None:
    assert [fault.key for fault in faults(tmp_path, text)] == keys


OUTSIDE = """[relay]
host = "mail.example.net"
from = "post@example.net"
[outside]
enabled = true
addresses = ["ada@example.com"]
host = "imap.example.net"
username = "ada"
password = "env:P"
"""


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ('[relay]\nhost = "mail.example.net"\nfrom = "post@example.net"\n', "", ["outside.enabled"]),
        ('addresses = ["ada@example.com"]\n', "", ["outside.addresses"]),
        ('host = "imap.example.net"\n', "", ["outside.host"]),
        ('username = "ada"\n', "", ["outside.username"]),
        ('password = "env:P"\n', "", ["outside.password"]),
        ('"ada@example.com"', '"ada"', ["outside.addresses"]),
        ('"ada@example.com"', '"you@postroom.internal"', ["outside.addresses"]),
        ('username = "ada"\n', 'username = "ada"\ntls = "none"\n', ["outside.tls"]),
        ('username = "ada"\n', 'username = "ada"\nreply_to = "x y@z"\n', ["outside.reply_to"]),
        ("[outside]", 'dkim_domain = "not a domain"\n[outside]', ["relay.dkim_domain"]),
        ("[outside]", 'dkim_selector = "a b"\n[outside]', ["relay.dkim_selector"]),
    ],
)
def test_the_road_from_outside_is_whole_or_it_is_off(tmp_path: Path, old: str, new: str, keys: list[str]) -> None:
    assert old in OUTSIDE
    assert [fault.key for fault in faults(tmp_path, OUTSIDE.replace(old, new, 1))] == keys


def test_the_road_from_outside_is_off_unless_it_is_switched_on(tmp_path: Path) -> None:
    assert load(home=tmp_path, environ={}).outside.enabled is False
    write(tmp_path, OUTSIDE)
    settings = load(home=tmp_path, environ={"P": "secret"})
    assert settings.outside.addresses == ("ada@example.com",)
    assert settings.outside.password in settings.secrets()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[agents.you]\ndisplay = "X"', "user"),
        ('[agents.help]\ndisplay = "X"', "agents.help"),
        ('[agents.action]\ndisplay = "X"', "agents.action"),
        ('[agents.postmaster]\ndisplay = "X"', "agents.postmaster"),
        ('[agents.assistant]\nskills = ["assistant"]', "agents.assistant.skills"),
        ('[agents.assistant]\nskills = ["hook"]', "agents.assistant.skills"),
        ('user = "summariser"', "user"),
        ('[agents.a]\ndisplay = "Same"\n[agents.b]\ndisplay = "same"', "agents.b.display"),
    ],
)
def test_one_address_has_one_meaning(tmp_path: Path, text: str, key: str) -> None:
    assert only(faults(tmp_path, text)).key == key


def test_a_fault_of_a_whole_table_stands_at_its_first_setting(tmp_path: Path) -> None:
    fault = only(faults(tmp_path, '[agents.assistant]\nmodel = "demo"\n\n[agents.help]\nmodel = "demo"\n'))
    assert (fault.key, fault.file, fault.line) == ("agents.help", str(tmp_path / "postroom.toml"), 5)


def test_a_misspelt_variable_is_a_fault_and_a_foreign_one_is_not(tmp_path: Path) -> None:
    fault = only(faults(tmp_path, environ={"POSTROOM_REQUIRE_TSL": "false", "POSTROOM_PASSWORD": "x"}))
    assert fault.file == "environment variable POSTROOM_REQUIRE_TSL"
    assert fault.fix == "did you mean POSTROOM_REQUIRE_TLS?"


def test_a_wrong_variable_or_flag_is_named_as_the_place(tmp_path: Path) -> None:
    found = faults(tmp_path, environ={"POSTROOM_LISTEN__IMAP": "many"}, listen__web="none")
    assert [fault.file for fault in found] == ["environment variable POSTROOM_LISTEN__IMAP", "flag listen.web"]


# Secrets in the configuration


def test_a_plain_password_in_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    fault = only(faults(tmp_path, '[relay]\nhost = "h"\nfrom = "a@b.c"\nusername = "u"\npassword = "hunter2"'))
    assert (fault.key, fault.line) == ("relay.password", 5)
    assert "plain text" in fault.message
    assert "hunter2" not in str(fault)
    assert "file:PATH" in fault.fix


def test_a_password_may_stand_in_the_environment_itself(tmp_path: Path) -> None:
    write(tmp_path, '[relay]\nhost = "h"\nfrom = "a@b.c"\nusername = "u"\n')
    relay = load(home=tmp_path, environ={"POSTROOM_RELAY__PASSWORD": "hunter2"}).relay
    assert relay is not None
    assert relay.password is not None
    assert relay.password.reveal() == "hunter2"


def test_a_variable_with_our_prefix_may_hold_a_secret(tmp_path: Path) -> None:
    write(tmp_path, '[models.m]\nmodel = "x"\napi_key = "env:POSTROOM_HOMES"\n')
    settings = load(home=tmp_path, environ={"POSTROOM_HOMES": "k"})
    assert [secret.reveal() for secret in settings.secrets()] == ["k"]


def test_a_relative_secret_file_lies_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k\n")
    (tmp_path / "key").chmod(0o600)
    write(tmp_path, '[models.m]\nmodel = "x"\napi_key = "file:key"\n')
    assert load(home=tmp_path, environ={}).secrets()[0].reveal() == "k"


# The environment of libraries, and the list of settings


def test_library_variables_are_set_and_the_owners_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOG", "DEBUG")
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP", raising=False)
    monkeypatch.delenv("LITELLM_MODE", raising=False)
    prepare_library_environment()
    environment = loading.child_environment({"EXTRA": "1"})
    assert environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert environment["LITELLM_MODE"] == "PRODUCTION"
    assert environment["LITELLM_LOG"] == "DEBUG"
    assert environment["EXTRA"] == "1"
    for name in loading.LIBRARY_ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def test_every_setting_can_be_listed_for_the_reference_page() -> None:
    names = list(setting_names())
    assert {"require_tls", "imap.extensions", "relay.from", "limits.tokens", "log.level"} <= set(names)
    assert not [name for name in names if name.startswith("debug")]
