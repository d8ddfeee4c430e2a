"""Models of many providers through LiteLLM, held to our own protocol.

The rule: one HTTP request a call, no hidden retry, our own time limits, and nothing that LiteLLM says is passed on
unread: unknown usage stays None, errors become a ModelFault by their status, texts are free of keys. LiteLLM is
imported in a thread when the first call is made (3-7 s, 190 MB), never before.
"""

import asyncio
import base64
import importlib
import json
import logging
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from agents.llm import (
    Message,
    ModelError,
    ModelFault,
    ModelReply,
    ModelRequest,
    Part,
    Price,
    ResultMessage,
    Usage,
    UserMessage,
    WantedCall,
)
from agents.models._faults import classify, readable
from config import settings
from config.secrets import SecretError

PROVIDER = "litellm"
DEFAULT_WINDOW = 32_000
MILLION = Decimal(1_000_000)
HOSTED = "the provider's usual address"
LOCAL = ("ollama/", "ollama_chat/")
FREE = Price(Decimal(0), Decimal(0))


class LiteLlmModel:
    """One configured model; see agents.llm.Model."""

    demo = False

    def __init__(self, config: settings.Model, limits: settings.Limits, stream: bool = True) -> None:
        self._config = config
        self._total = limits.model_seconds
        self._first_byte = min(limits.first_byte_seconds, limits.model_seconds)
        self._stream = stream
        self._info: Mapping[str, Any] = {}

    @property
    def label(self) -> str:
        return self._config.model

    @property
    def endpoint(self) -> str | None:
        """Who gets the data: the configured address, else the provider by its prefix."""
        if self._config.api_base:
            return self._config.api_base
        provider, slash, _ = self._config.model.partition("/")
        return provider.capitalize() if slash else HOSTED

    @property
    def price(self) -> Price | None:
        """The configured price; else, once LiteLLM is loaded, the one of its list; else unknown."""
        config = self._config
        if config.price_in is not None and config.price_out is not None:
            return Price(Decimal(str(config.price_in)), Decimal(str(config.price_out)))
        into, out = self._info.get("input_cost_per_token"), self._info.get("output_cost_per_token")
        if not into or not out:
            return FREE if self._is_local() else None
        # The list is in US dollars; taken one to one, a dollar is an upper bound for what is counted in euros.
        return Price(Decimal(str(into)) * MILLION, Decimal(str(out)) * MILLION)

    @property
    def window(self) -> int:
        return self._config.context_tokens or self._info.get("max_input_tokens") or DEFAULT_WINDOW

    @property
    def takes(self) -> frozenset[str]:
        """ "images", "documents": as configured, else as LiteLLM's list has it."""
        if self._config.takes is not None:
            return frozenset(self._config.takes)
        known = {"images": "supports_vision", "documents": "supports_pdf_input"}
        return frozenset(name for name, key in known.items() if self._info.get(key))

    def _is_local(self) -> bool:
        """Whether it is a model of one's own machine by its provider, so that no use of it costs anything."""
        return self._config.model.startswith(LOCAL)

    async def prepare(self) -> None:
        """Load LiteLLM, so that price, window and what the model takes are known before anything is reserved."""
        await self._library()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One request. Raises ModelError; a cancelled await closes the connection."""
        key = self._key()
        litellm = await self._library()
        try:
            async with asyncio.timeout(self._total):
                answer, usage = await self._ask(litellm, request, key)
        except TimeoutError:
            raise ModelError(ModelFault.TIMEOUT, f"no complete answer within {self._total} s") from None
        except ModelError:
            raise
        except Exception as error:
            # LiteLLM raises classes of several libraries, and plain ValueError and KeyError from inside its adapters;
            # all of them mean that this call failed, and none may end the run's worker.
            raise classify(error, key) from None
        return self._reply(answer, usage)

    def _key(self) -> str:
        """The key, read now. Local servers need none, but the client library wants some text."""
        if self._config.api_key is None:
            return ""
        try:
            return self._config.api_key.reveal()
        except SecretError as fault:
            raise ModelError(ModelFault.AUTH, f"the key cannot be read: {fault.message}; {fault.fix}") from None

    async def _library(self) -> Any:
        litellm = await asyncio.to_thread(_load)
        if not self._info:
            self._info = await asyncio.to_thread(_info, litellm, self._config.model)
        return litellm

    def _arguments(self, request: ModelRequest, key: str) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._config.model,
            "messages": to_messages(request),
            "max_tokens": request.max_output,
            "timeout": self._total,
            "max_retries": 0,
            "num_retries": 0,
        }
        if request.tools:
            arguments["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
                }
                for tool in request.tools
            ]
        if self._config.api_base:
            arguments["api_base"] = self._config.api_base
            arguments["api_key"] = key or "none"
        elif key:
            arguments["api_key"] = key
        return arguments

    async def _ask(self, litellm: Any, request: ModelRequest, key: str) -> tuple[Any, Usage | None]:
        arguments = self._arguments(request, key)
        if not self._stream:
            answer = await litellm.acompletion(**arguments)
            return answer, to_usage(getattr(answer, "usage", None))
        stream, chunks = await self._open(litellm, arguments)
        written = 0
        try:
            async for chunk in stream:
                chunks.append(name_calls(chunk))
                written += _characters(chunk)
                request.progress(written)
        finally:
            await _close(stream)
        if not _has_ended(stream):
            raise ModelError(ModelFault.TRANSIENT, "the answer was not a chat answer, or broke off")
        return litellm.stream_chunk_builder(chunks), _stream_usage(stream)

    async def _open(self, litellm: Any, arguments: dict[str, Any]) -> tuple[Any, list[Any]]:
        """The stream with its first chunk, within the limit for a first byte."""
        try:
            async with asyncio.timeout(self._first_byte):
                stream = await litellm.acompletion(**arguments, stream=True, stream_options={"include_usage": True})
                try:
                    return stream, [name_calls(await anext(stream))]
                except BaseException:  # whatever cuts the start off, a cancel too, must not leave the stream open
                    await _close(stream)
                    raise
        except TimeoutError:
            raise ModelError(ModelFault.TIMEOUT, f"no first byte within {self._first_byte} s") from None
        except StopAsyncIteration:
            raise ModelError(ModelFault.TRANSIENT, "the answer was empty") from None

    def _reply(self, answer: Any, usage: Usage | None) -> ModelReply:
        """The answer as ours. An answer without a choice or an end is a broken one, to be tried again."""
        choices = getattr(answer, "choices", None) or []
        if not choices or not choices[0].finish_reason:
            raise ModelError(ModelFault.TRANSIENT, "the answer was not a chat answer, or broke off")
        message = choices[0].message
        calls = tuple(
            WantedCall(call.id or "", call.function.name or "", call.function.arguments or "")
            for call in message.tool_calls or ()
        )
        return ModelReply(message.content or "", calls, choices[0].finish_reason, usage, self._cost(usage))

    def _cost(self, usage: Usage | None) -> Decimal | None:
        """What the call cost; None when its size or its price is unknown, which is not the same as nothing."""
        price = self.price
        if usage is None or price is None:
            return None
        return (usage.tokens_in * price.input + usage.tokens_out * price.output) / MILLION


def _load() -> Any:
    """Import LiteLLM and quiet it. Its environment was set by config before (no price list from the network, no
    .env).
    """
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    logger = logging.getLogger("LiteLLM")
    logger.handlers.clear()
    logger.setLevel(logging.WARNING)
    logger.propagate = True
    return litellm


def _info(litellm: Any, model: str) -> Mapping[str, Any]:
    """What LiteLLM's bundled list says of a model; empty when it does not know it."""
    try:
        return dict(litellm.get_model_info(model))
    except Exception:
        # It raises a bare Exception for a model that is not in the list.
        return {"input_cost_per_token": None}


def _characters(chunk: Any) -> int:
    """How many characters of an answer a piece of a stream brought: words, or arguments of calls."""
    count = 0
    for choice in getattr(chunk, "choices", None) or []:
        calls = getattr(choice.delta, "tool_calls", None) or []
        count += len(choice.delta.content or "") + sum(len(call.function.arguments or "") for call in calls)
    return count


async def _close(stream: Any) -> None:
    """Close the connection behind a stream now, not when it is collected."""
    inner = getattr(stream, "completion_stream", None)
    for target in (inner, getattr(inner, "response", None)):
        closer = getattr(target, "aclose", None) or getattr(target, "close", None)
        if closer is not None:
            closing = closer()
            if asyncio.iscoroutine(closing):
                await closing
            return


def _has_ended(stream: Any) -> bool:
    """Whether the provider itself ended the answer: LiteLLM adds an end of its own to what was no answer at all."""
    received = getattr(stream, "chunks", None) or []
    return any(choice.finish_reason for chunk in received for choice in getattr(chunk, "choices", None) or [])


def _stream_usage(stream: Any) -> Usage | None:
    """Usage only if the provider sent it: LiteLLM adds an estimate of its own to the last chunk it hands out."""
    for chunk in reversed(getattr(stream, "chunks", None) or []):
        usage = to_usage(getattr(chunk, "usage", None))
        if usage is not None:
            return usage
    return None


def to_usage(given: Any) -> Usage | None:
    """Reported tokens; None for nothing or for the 0/0 that LiteLLM puts where a provider said nothing."""
    into, out = getattr(given, "prompt_tokens", 0) or 0, getattr(given, "completion_tokens", 0) or 0
    return Usage(into, out) if into or out else None


def name_calls(chunk: Any) -> Any:
    """Give a call that comes without an id one, since LiteLLM drops such calls when it joins the chunks."""
    for choice in getattr(chunk, "choices", None) or []:
        for call in getattr(choice.delta, "tool_calls", None) or []:
            if not call.id and call.function and call.function.name:
                call.id = f"call_{call.index}"
    return chunk


def to_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The history in the form every provider takes: arguments are JSON objects, no turn is empty, and no two turns of
    the user or of the assistant follow each other.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    for made in map(_to_message, request.messages):
        if made and not _joined(messages, made):
            messages.append(made)
    return messages


def _joined(messages: list[dict[str, Any]], made: dict[str, Any]) -> bool:
    """Add a turn to the one before it, if both are the same one's words."""
    before = messages[-1] if messages else {}
    if made["role"] != before.get("role") or made["role"] not in ("user", "assistant") or "tool_calls" in before:
        return False
    if made["role"] == "assistant":  # the later one stays, for it may have calls
        made["content"] = "\n\n".join(text for text in (before["content"], made["content"]) if text)
        messages[-1] = made
    elif isinstance(made["content"], str) and isinstance(before["content"], str):
        before["content"] += f"\n\n{made['content']}"
    else:
        before["content"] = _blocks(before["content"]) + _blocks(made["content"])
    return True


def _blocks(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _to_part(part: Part) -> dict[str, Any]:
    """A file as a block of a message."""
    url = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode()}"
    if part.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": part.name, "file_data": url}}


def _to_message(message: Message) -> dict[str, Any]:
    if isinstance(message, ResultMessage):
        return {
            "role": "tool",
            "tool_call_id": message.call_id,
            "name": message.name,
            "content": message.text or "(nothing)",
        }
    if isinstance(message, UserMessage):
        text = message.text or "(an empty message)"
        return {"role": "user", "content": [*_blocks(text), *map(_to_part, message.parts)] if message.parts else text}
    if not message.calls:
        return {"role": "assistant", "content": message.text} if message.text.strip() else {}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.args), ensure_ascii=False)},
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


async def close() -> None:
    """Close the connections LiteLLM keeps, if it was ever loaded. Call it once, at the end of the program."""
    if "litellm" in sys.modules:
        module: Any = importlib.import_module("litellm.llms.custom_httpx.async_client_cleanup")
        await module.close_litellm_async_clients()


def make(config: settings.Model, limits: settings.Limits) -> LiteLlmModel:
    """A model of the settings."""
    return LiteLlmModel(config, limits)


__all__ = ["PROVIDER", "LiteLlmModel", "close", "make", "name_calls", "readable", "to_messages", "to_usage"]
