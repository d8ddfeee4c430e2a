"""`models test`: one real call, and every way it can fail told in a sentence with what to do about it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.models.litellm_provider import close
from agents.trial import Trial, try_out
from bridge.net.tls import ensure_certificates
from config import settings
from config.load import prepare_library_environment
from config.secrets import Secret
from tests.fakes.fake_llm import FakeLLM, fake_llm

KEY = "sk-canary-4711-abcdef"
SHORT = settings.Limits(model_seconds=5, first_byte_seconds=2)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of LiteLLM and what it imports
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # sockets its clients leave open
]


@pytest.fixture
async def fake() -> AsyncIterator[FakeLLM]:
    prepare_library_environment()
    async with fake_llm() as server:
        yield server
        await close()


async def tried(mode: str, base: str, *, key: str | None = "env:KEY", limits: settings.Limits = SHORT) -> Trial:
    secret = Secret(key, environ={"KEY": KEY}) if key else None
    return await try_out(settings.Model("mine", model=f"openai/{mode}", api_base=base, api_key=secret), limits)


@asynccontextmanager
async def listening(handle: object, **more: object) -> AsyncIterator[int]:
    server = await asyncio.start_server(handle, "127.0.0.1", 0, **more)  # type: ignore[arg-type]  # passed on
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_one_call_and_what_it_took(fake: FakeLLM) -> None:
    trial = await tried("text", fake.base, limits=settings.Limits())
    assert (trial.said, trial.tokens, trial.why, trial.fix) == ("hello", 18, "", "")
    assert trial.endpoint == fake.base
    assert len(fake.requests) == 1
    assert fake.requests[0].body["max_tokens"] == 64


@pytest.mark.parametrize(
    ("mode", "fault", "why", "fix"),
    [
        (
            "401",
            "auth",
            "The provider refused the key (401: Incorrect API key provided",
            "Put a valid key for openai/401",
        ),
        ("403", "auth", "The provider refused the key (403", "env:KEY; it is read anew at every call"),
        ("404", "gone", "The provider does not know the model 'openai/404'", "under [models.mine] as provider/name"),
        ("400", "refused", "The provider refused the request (400: bad param foo", "Its words say why"),
        ("429", "rate", "the provider only asks to be called less often", "Wait a little"),
        ("quota", "quota", "the account has nothing left to spend (429", "Add credit"),
        ("500", "transient", "The provider failed (500: boom", "Try again later"),
        ("html", "transient", "Something answers, but it does not speak the chat protocol", "it usually ends in /v1"),
        ("hang", "timeout", "It did not answer in time (no first byte within 2 s)", "first_byte_seconds (2)"),
    ],
)
async def test_each_failure_is_a_sentence_with_what_to_do(
    fake: FakeLLM, mode: str, fault: str, why: str, fix: str
) -> None:
    trial = await tried(mode, fake.base)
    assert trial.fault == fault
    assert why in trial.why
    assert fix in trial.fix
    assert KEY not in f"{trial}"
    assert len(fake.requests) == 1


async def test_no_key_and_a_key_that_cannot_be_read(fake: FakeLLM) -> None:
    none = await tried("401", fake.base, key=None)
    assert none.why.startswith("The provider wants a key and none is set")
    assert none.fix.endswith("under [models.mine].")
    lost = await tried("text", fake.base, key="env:NOWHERE")
    assert lost.why.startswith("The key could not be had: the key cannot be read")
    assert "'env:NOWHERE'" in lost.fix
    assert len(fake.requests) == 1


async def test_nobody_listens_and_no_such_host(fake: FakeLLM) -> None:
    async with listening(lambda reader, writer: None) as port:
        pass
    refused = await tried("text", f"http://127.0.0.1:{port}/v1")
    assert refused.why == f"Nothing listens at 127.0.0.1:{port}."
    assert "Start the model's server there" in refused.fix
    unknown = await tried("text", "http://no-such-host.invalid/v1")
    assert unknown.why.startswith("no-such-host.invalid cannot be reached (")


@pytest.mark.parametrize("base", ["http://127.0.0.1:99999/v1", "http://[::1/v1"])
async def test_an_address_that_is_none(fake: FakeLLM, base: str) -> None:
    trial = await tried("text", base)
    assert trial.why.startswith("The address of the provider cannot be read (")
    assert trial.fix == "Correct api_base."


async def test_a_certificate_that_is_not_trusted_and_a_server_without_tls(fake: FakeLLM, tmp_path: Path) -> None:
    (tmp_path / "tls").mkdir(mode=0o700)
    context = ensure_certificates(tmp_path, ("127.0.0.1",)).context
    async with listening(fake.handle, ssl=context) as port:
        strange = await tried("text", f"https://127.0.0.1:{port}/v1")
    assert strange.why.startswith(f"The certificate of 127.0.0.1:{port} is not trusted here (")
    assert "SSL_CERT_FILE" in strange.fix
    plain = await tried("text", fake.base.replace("http:", "https:"))
    assert "does not speak TLS" in plain.why
    assert "http://" in plain.fix


async def test_a_name_without_its_provider() -> None:
    prepare_library_environment()
    trial = await try_out(settings.Model("mine", model="gpt-x-unlisted"), SHORT)
    assert trial.why == "'gpt-x-unlisted' does not say whose model it is."
    assert "openai/gpt-x-unlisted" in trial.fix


async def test_the_demo_model_works_without_anything() -> None:
    trial = await try_out(settings.Model("demo", provider="demo", model="demo"), SHORT)
    assert (trial.why, trial.label, trial.endpoint) == ("", "demo (no AI)", None)
