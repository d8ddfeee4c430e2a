"""The LiteLLM adapter over HTTP, against a local server that misbehaves: one request a call, typed faults."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from agents.llm import (
    AssistantMessage,
    Message,
    ModelError,
    ModelFault,
    ModelReply,
    ModelRequest,
    Part,
    Price,
    ResultMessage,
    SentCall,
    ToolSpec,
    Usage,
    UserMessage,
)
from agents.models._faults import readable
from agents.models.litellm_provider import LiteLlmModel, close, make, to_messages
from config import settings
from config.load import prepare_library_environment
from config.secrets import Secret
from tests.fakes.fake_llm import FakeLLM, Turn, fake_llm

KEY = "sk-canary-4711-abcdef"
ADD = ToolSpec("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})

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


def model(
    fake: FakeLLM,
    mode: str,
    stream: bool = True,
    seconds: int = 20,
    first: int = 20,
    price: tuple[float, float] | None = (1.0, 2.0),
) -> LiteLlmModel:
    config = settings.Model(
        "x",
        model=f"openai/{mode}",
        api_base=fake.base,
        api_key=Secret("env:KEY", environ={"KEY": KEY}),
        price_in=price[0] if price else None,
        price_out=price[1] if price else None,
    )
    return LiteLlmModel(config, settings.Limits(model_seconds=seconds, first_byte_seconds=first), stream)


def request(*messages: Message) -> ModelRequest:
    return ModelRequest("Be brief.", messages or (UserMessage("hi"),), (ADD,), 100, "x")


async def ask(fake: FakeLLM, mode: str, stream: bool = True) -> ModelReply:
    """One call, which must be exactly one HTTP request."""
    before = len(fake.requests)
    try:
        return await model(fake, mode, stream).complete(request())
    finally:
        assert len(fake.requests) - before == 1


BOTH = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])


@BOTH
async def test_text_usage_and_cost(fake: FakeLLM, stream: bool) -> None:
    reply = await ask(fake, "text", stream)
    assert (reply.text.strip(), reply.calls, reply.finish) == ("hello", (), "stop")
    assert reply.usage == Usage(11, 7)
    assert reply.cost == Decimal("0.000025")


@BOTH
async def test_parallel_calls_keep_their_raw_arguments(fake: FakeLLM, stream: bool) -> None:
    reply = await ask(fake, "tools", stream)
    wanted = [(call.provider_id, call.name, call.raw_args) for call in reply.calls]
    assert wanted == [("call_1", "add", '{"a": 1, "b": 2}'), ("call_2", "wipe", '{"path": "/"}')]


@BOTH
async def test_broken_arguments_and_repeated_ids_are_passed_on_as_they_are(fake: FakeLLM, stream: bool) -> None:
    assert [call.raw_args for call in (await ask(fake, "badjson", stream)).calls] == ['{"a":1,']
    assert [call.provider_id for call in (await ask(fake, "twins", stream)).calls] == ["call_1", "call_1"]


@BOTH
async def test_a_call_without_an_id_is_not_lost(fake: FakeLLM, stream: bool) -> None:
    assert [call.name for call in (await ask(fake, "noid", stream)).calls] == ["add"]


@BOTH
@pytest.mark.parametrize("mode", ["empty", "null"])
async def test_an_empty_answer_is_an_answer(fake: FakeLLM, mode: str, stream: bool) -> None:
    reply = await ask(fake, mode, stream)
    assert (reply.text, reply.calls) == ("", ())


@BOTH
async def test_unknown_usage_is_none_and_costs_an_unknown_amount(fake: FakeLLM, stream: bool) -> None:
    reply = await ask(fake, "nousage", stream)
    assert reply.text.strip() == "hello"
    assert (reply.usage, reply.cost) == (None, None)


async def test_an_unknown_price_is_none_and_not_free(fake: FakeLLM) -> None:
    reply = await model(fake, "text", price=None).complete(request())
    assert reply.usage == Usage(11, 7)
    assert reply.cost is None


@BOTH
async def test_the_end_is_named(fake: FakeLLM, stream: bool) -> None:
    assert (await ask(fake, "length", stream)).finish == "length"
    assert (await ask(fake, "oddfinish", stream)).finish


FAULTS = {
    "429": ModelFault.RATE,
    "quota": ModelFault.QUOTA,
    "401": ModelFault.AUTH,
    "403": ModelFault.AUTH,
    "404": ModelFault.GONE,
    "400": ModelFault.REFUSED,
    "500": ModelFault.TRANSIENT,
    "503": ModelFault.TRANSIENT,
    "529": ModelFault.TRANSIENT,
    "html": ModelFault.TRANSIENT,
    "cut": ModelFault.TRANSIENT,
    "nochoices": ModelFault.TRANSIENT,
    "overflow-openai": ModelFault.CONTEXT,
    "overflow-vllm": ModelFault.CONTEXT,
    "overflow-llamacpp": ModelFault.CONTEXT,
}


@BOTH
@pytest.mark.parametrize(("mode", "kind"), FAULTS.items(), ids=FAULTS.keys())
async def test_faults_are_told_apart(fake: FakeLLM, mode: str, kind: ModelFault, stream: bool) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(fake, mode, stream)
    assert caught.value.kind is kind
    assert KEY not in str(caught.value)
    assert "Traceback" not in caught.value.text
    assert "litellm" not in caught.value.text.lower()


async def test_a_cut_stream_is_to_be_tried_again(fake: FakeLLM) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(fake, "cutstream")
    assert caught.value.kind is ModelFault.TRANSIENT


async def test_retry_after_in_seconds_and_as_a_date(fake: FakeLLM) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(fake, "429")
    assert caught.value.retry_after == 2.0
    with pytest.raises(ModelError) as caught:
        await ask(fake, "429date")
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 1_000_000


@pytest.mark.parametrize("mode", ["hang", "hangstream"])
async def test_the_total_limit_holds_and_closes_the_connection(fake: FakeLLM, mode: str) -> None:
    with pytest.raises(ModelError) as caught:
        await model(fake, mode, seconds=1).complete(request())
    assert caught.value.kind is ModelFault.TIMEOUT
    async with asyncio.timeout(30):
        await fake.closed.wait()
    assert len(fake.requests) == 1


async def test_the_first_byte_has_a_limit_of_its_own(fake: FakeLLM) -> None:
    with pytest.raises(ModelError, match="first byte"):
        await model(fake, "hang", seconds=30, first=1).complete(request())


@pytest.mark.parametrize("mode", ["hang", "hangstream"])
async def test_cancelling_closes_the_connection(fake: FakeLLM, mode: str) -> None:
    task = asyncio.create_task(model(fake, mode).complete(request()))
    async with asyncio.timeout(20):
        await fake.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):
        await fake.closed.wait()
    assert len(fake.requests) == 1


async def test_what_is_sent(fake: FakeLLM) -> None:
    history = (
        UserMessage("add one and two"),
        AssistantMessage("", (SentCall("c1", "add", {"a": 1}), SentCall("c2", "add", {}))),
        ResultMessage("c1", "add", "1"),
        ResultMessage("c2", "add", "", ok=False),
        AssistantMessage(""),
        UserMessage(""),
    )
    await model(fake, "text").complete(request(*history))
    sent = fake.requests[0]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    roles = [message["role"] for message in sent.body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert sent.body["messages"][2]["tool_calls"][1]["function"]["arguments"] == "{}"
    assert all(message.get("content") or message.get("tool_calls") for message in sent.body["messages"])
    assert sent.body["tools"][0]["function"]["name"] == "add"
    assert sent.body["max_tokens"] == 100


async def test_ten_calls_at_once_are_ten_requests(fake: FakeLLM) -> None:
    replies = await asyncio.gather(*(model(fake, "text").complete(request()) for _ in range(10)))
    assert [reply.text.strip() for reply in replies] == ["hello"] * 10
    assert len(fake.requests) == 10


PROVIDERS = (
    "openai anthropic gemini ollama_chat ollama openrouter mistral deepseek groq azure xai hosted_vllm bedrock"
).split()


@pytest.mark.filterwarnings("ignore")  # of the library about its own types, as it prepares a request
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_provider_is_asked_twice_by_a_layer_below_ours(
    fake: FakeLLM, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LiteLLM goes to each by a client of its own, and each of these clients has retries of its own."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_REGION_NAME", "eu-central-1")
    name = "anthropic.claude-3-haiku-20240307-v1:0" if provider == "bedrock" else "any"
    for mode, kind in (("500", "transient"), ("529", "transient"), ("429", "rate"), ("cut", "transient")):
        fake.always = mode
        asked = replace(model(fake, "any")._config, model=f"{provider}/{name}")
        with pytest.raises(ModelError) as caught:
            await LiteLlmModel(asked, settings.Limits()).complete(request())
        assert caught.value.kind == kind, (mode, caught.value.text)
        assert KEY not in caught.value.text
        assert len(fake.requests) == 1, mode
        fake.requests.clear()


async def test_a_long_answer_is_put_together_in_order(fake: FakeLLM) -> None:
    words = " ".join(str(number) for number in range(500))
    fake.turns["long"] = Turn(words)
    assert (await ask(fake, "long")).text.strip() == words


async def test_a_key_that_cannot_be_read_is_an_auth_fault_and_no_request(fake: FakeLLM) -> None:
    config = settings.Model("x", model="openai/text", api_base=fake.base, api_key=Secret("env:NONE", environ={}))
    with pytest.raises(ModelError) as caught:
        await make(config, settings.Limits()).complete(request())
    assert caught.value.kind is ModelFault.AUTH
    assert fake.requests == []


async def test_nobody_there_is_to_be_tried_again(fake: FakeLLM) -> None:
    config = settings.Model("x", model="openai/text", api_base="http://127.0.0.1:9/v1")
    with pytest.raises(ModelError) as caught:
        await make(config, settings.Limits()).complete(request())
    assert caught.value.kind is ModelFault.TRANSIENT


async def test_price_and_window_of_a_known_model_come_from_the_bundled_list(fake: FakeLLM) -> None:
    known = make(settings.Model("x", model="openai/gpt-4o", api_base="http://127.0.0.1:9/v1"), settings.Limits())
    prices = [known.price]
    with pytest.raises(ModelError):
        await known.complete(request())
    prices.append(known.price)
    assert prices[0] is None
    assert prices[1] is not None
    assert prices[1].output > prices[1].input > 0
    assert known.window > 100_000


def test_words_of_a_fault_hold_no_key_and_no_class_names() -> None:
    head = "litellm.AuthenticationError: AuthenticationError: OpenAIException - "
    said = f"{head}Incorrect API key provided: sk-abc12345xyz. Bearer tok.en"
    assert readable(ValueError(said), "other") == "Incorrect API key provided: [key] [key]"
    assert readable(ValueError(f"bad {KEY} twice {KEY}"), KEY) == "bad [key] twice [key]"
    assert len(readable(ValueError("x" * 5000), "")) == 300


@pytest.mark.parametrize(
    "raw",
    [
        'litellm.ServerError: ServerError: b\'{"error": {"message": "boom"}}\'. Handle with `litellm.X`.',
        'AnthropicException - {"type": "error", "error": {"type": "overloaded", "message": "boom"}}',
        'litellm.APIError: APIError: {"error": "boom"}',
        '{"object": "error", "message": "boom", "code": 400}',
        "boom",
    ],
)
def test_the_words_of_a_provider_are_taken_out_of_its_body(raw: str) -> None:
    assert readable(RuntimeError(raw), KEY) == "boom"


@pytest.mark.parametrize(
    "raw", ["{}", "{broken", '{"error": {"code": 5}}', '{"error": null}', "[1]", '{"message": ""}']
)
def test_a_body_without_words_is_shown_as_it_came(raw: str) -> None:
    assert readable(RuntimeError(raw), KEY) == raw


def test_an_endpoint_is_named() -> None:
    assert make(settings.Model("x", model="anthropic/some"), settings.Limits()).endpoint == "Anthropic"
    assert make(settings.Model("x", model="m", api_base="http://h/v1"), settings.Limits()).endpoint == "http://h/v1"


def test_messages_of_an_empty_history() -> None:
    assert to_messages(ModelRequest("", (), (), 1, "x")) == []


def test_importing_the_adapter_does_not_import_the_library() -> None:
    """The idle server must not pay for it."""
    names = "import sys, agents.models.litellm_provider, agents.discover, agents.extract"
    code = f"{names}; print('litellm' in sys.modules, 'pypdf' in sys.modules)"
    import subprocess

    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert found.stdout.strip() == "False False"


def test_turns_of_one_kind_that_follow_each_other_become_one() -> None:
    call = SentCall("c1", "add", {"a": 1})
    history: tuple[Message, ...] = (
        UserMessage("one"),
        UserMessage("two"),
        AssistantMessage("said"),
        AssistantMessage("then", (call,)),
        ResultMessage("c1", "add", "1"),
        UserMessage("look", parts=(Part("p.png", "image/png", b"png"),)),
        UserMessage("three"),
    )
    made = to_messages(ModelRequest("", history, (), 10, "x"))
    assert [message["role"] for message in made] == ["user", "assistant", "tool", "user"]
    assert made[0]["content"] == "one\n\ntwo"
    assert made[1]["content"] == "said\n\nthen"
    assert [called["id"] for called in made[1]["tool_calls"]] == ["c1"]
    assert [block["type"] for block in made[3]["content"]] == ["text", "image_url", "text"]


def test_files_are_sent_in_the_form_every_provider_takes() -> None:
    message = UserMessage("see", parts=(Part("p.png", "image/png", b"png"), Part("d.pdf", "application/pdf", b"pdf")))
    [made] = to_messages(ModelRequest("", (message,), (), 10, "x"))
    assert made["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {"type": "file", "file": {"filename": "d.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
    ]


async def test_a_picture_reaches_the_server_as_it_is(fake: FakeLLM) -> None:
    await model(fake, "text").complete(request(UserMessage("see", parts=(Part("p.png", "image/png", b"png"),))))
    [block] = [one for one in fake.requests[-1].body["messages"][-1]["content"] if one["type"] == "image_url"]
    assert block["image_url"]["url"] == "data:image/png;base64,cG5n"


async def test_how_far_an_answer_has_come_is_told_while_it_streams(fake: FakeLLM) -> None:
    heard: list[int] = []
    asked = replace(request(), progress=heard.append)
    reply = await model(fake, "text").complete(asked)
    assert heard == sorted(heard)
    assert heard[-1] == len(reply.text.rstrip()) or heard[-1] == len(reply.text)


@pytest.mark.parametrize(
    ("name", "takes", "known"),
    [
        ("anthropic/claude-sonnet-4-5", None, {"images", "documents"}),
        ("openai/gpt-3.5-turbo", None, set()),
        ("openai/whatever-else", None, set()),
        ("openai/whatever-else", ("images",), {"images"}),
    ],
)
async def test_what_a_model_takes_is_known_from_the_list_or_from_the_settings(
    name: str, takes: tuple[settings.Takes, ...] | None, known: set[str]
) -> None:
    prepare_library_environment()
    made = make(settings.Model("x", model=name, takes=takes), settings.Limits())
    await made.prepare()
    assert made.takes == known


def test_a_model_of_ones_own_machine_costs_nothing_and_an_unlisted_one_an_unknown_amount() -> None:
    limits = settings.Limits()
    assert make(settings.Model("x", model="ollama/llama3"), limits).price == Price(Decimal(0), Decimal(0))
    assert make(settings.Model("x", model="openai/whatever-else"), limits).price is None
    assert make(settings.Model("x", model="ollama/llama3", price_in=1, price_out=2), limits).price is not None
