"""One real call to a configured model, and what is wrong when it fails, in a sentence with what to do about it.

The rule: it asks once, costs as little as a call can, and shows no key. Where the call only says that there was no
connection, the address is looked at itself: its name, its port, its certificate.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from urllib.parse import urlsplit

from agents import discover
from agents.llm import Model, ModelError, ModelFault, ModelReply, ModelRequest, Prepares, UserMessage, takes
from config import settings

QUESTION: Final = "Answer with the one word: ready"
MAX_OUTPUT: Final = 64
PROBE_SECONDS: Final = 5.0
_NO_PROVIDER: Final = "LLM Provider NOT provided"
_NO_KEY: Final = ("the key cannot be read", "Missing ", "api_key client option must be set")


@dataclass(frozen=True, slots=True)
class Trial:
    """What one call came to. `why` and `fix` are empty when it worked; `cost` (EUR) is None when it is not known."""

    tag: str
    label: str
    endpoint: str | None
    seconds: float
    said: str
    tokens: int | None
    cost: Decimal | None
    takes: tuple[str, ...]
    window: int
    fault: str = ""
    why: str = ""
    fix: str = ""


async def try_out(config: settings.Model, limits: settings.Limits) -> Trial:
    """Call a model once. Never raises for what the model or its provider does."""
    model = discover.models({config.name: config}, limits)[config.name]
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        reply = await _ask(model, config.name)
    except ModelError as error:
        why, fix = await explain(error, config, limits)
        return _trial(config, model, loop.time() - began, None, error.kind.value, why, fix)
    return _trial(config, model, loop.time() - began, reply)


async def _ask(model: Model, tag: str) -> ModelReply:
    if isinstance(model, Prepares):
        await model.prepare()
    return await model.complete(ModelRequest("", (UserMessage(QUESTION, QUESTION),), (), MAX_OUTPUT, tag))


def _trial(
    config: settings.Model,
    model: Model,
    seconds: float,
    reply: ModelReply | None,
    fault: str = "",
    why: str = "",
    fix: str = "",
) -> Trial:
    usage = reply.usage if reply is not None else None
    return Trial(
        tag=config.name,
        label=model.label,
        endpoint=model.endpoint,
        seconds=seconds,
        said=" ".join(reply.text.split())[:200] if reply is not None else "",
        tokens=usage.tokens_in + usage.tokens_out if usage is not None else None,
        cost=reply.cost if reply is not None else None,
        takes=tuple(sorted(takes(model))),
        window=model.window,
        fault=fault,
        why=why,
        fix=fix,
    )


async def explain(error: ModelError, config: settings.Model, limits: settings.Limits) -> tuple[str, str]:
    """A failure as a sentence, and what to do about it."""
    unreached = error.kind in (ModelFault.TRANSIENT, ModelFault.TIMEOUT) and config.api_base
    if unreached and (found := await _look(config.api_base)):
        return found
    return _EXPLAIN[error.kind](error.text, config, limits)


Told = tuple[str, str]


def _auth(text: str, config: settings.Model, _: settings.Limits) -> Told:
    where = f"[models.{config.name}]"
    if config.api_key is None:
        return (
            f"The provider wants a key and none is set ({text}).",
            f'Write api_key = "env:NAME", "file:PATH" or "keyring:SERVICE/NAME" under {where}.',
        )
    if text.startswith(_NO_KEY):
        return f"The key could not be had: {text}.", f"Mend {config.api_key.reference!r} under {where}."
    return (
        f"The provider refused the key ({text}).",
        f"Put a valid key for {config.model} into {config.api_key.reference}; it is read anew at every call.",
    )


def _quota(text: str, config: settings.Model, _: settings.Limits) -> Told:
    return (
        f"The provider took the key, but the account has nothing left to spend ({text}).",
        "Add credit or raise the limit in your account at the provider, or use another model.",
    )


def _gone(text: str, config: settings.Model, _: settings.Limits) -> Told:
    return (
        f"The provider does not know the model {config.model!r} ({text}).",
        f"Look the name up in its list of models and write it under [models.{config.name}] as provider/name.",
    )


def _rate(text: str, config: settings.Model, _: settings.Limits) -> Told:
    return (
        f"The key and the name are right; the provider only asks to be called less often ({text}).",
        "Wait a little; runs do so by themselves.",
    )


def _timeout(text: str, config: settings.Model, limits: settings.Limits) -> Told:
    first, whole = limits.first_byte_seconds, limits.model_seconds
    fix = f"Try again; if it stays slow, raise first_byte_seconds ({first}) or model_seconds ({whole}) under [limits]."
    return f"It did not answer in time ({text}).", fix


def _refused(text: str, config: settings.Model, _: settings.Limits) -> Told:
    if _NO_PROVIDER in text:
        return (
            f"{config.model!r} does not say whose model it is.",
            f"Write it under [models.{config.name}] as provider/name, such as openai/{config.model}.",
        )
    return (
        f"The provider refused the request ({text}).",
        "Its words say why; often the model takes no tools or no such size.",
    )


def _context(text: str, config: settings.Model, _: settings.Limits) -> Told:
    return f"Even a short question is too long for it ({text}).", "Use a model with a larger window."


def _transient(text: str, config: settings.Model, _: settings.Limits) -> Told:
    if "not a chat answer" in text or "finish_reason" in text:
        return (
            f"Something answers, but it does not speak the chat protocol ({text}).",
            f"Correct api_base under [models.{config.name}]; for an OpenAI-compatible server it usually ends in /v1.",
        )
    if "Connection error" in text:
        return (
            f"The provider of {config.model} could not be reached ({text}).",
            "Look whether this machine reaches the internet; a proxy is set by HTTPS_PROXY.",
        )
    return f"The provider failed ({text}).", "Try again later; runs do so by themselves."


_EXPLAIN: Final[Mapping[ModelFault, Callable[[str, settings.Model, settings.Limits], Told]]] = {
    ModelFault.AUTH: _auth,
    ModelFault.QUOTA: _quota,
    ModelFault.GONE: _gone,
    ModelFault.RATE: _rate,
    ModelFault.TIMEOUT: _timeout,
    ModelFault.REFUSED: _refused,
    ModelFault.CONTEXT: _context,
    ModelFault.TRANSIENT: _transient,
}


async def _look(base: str) -> Told | None:
    """What is wrong with an address itself; None when something is there to speak with."""
    try:
        place = urlsplit(base)
        host, secure = place.hostname or "", place.scheme == "https"
        port = place.port or (443 if secure else 80)
    except ValueError as fault:
        return f"The address of the provider cannot be read ({fault}).", "Correct api_base."
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context() if secure else None)
            writer.close()
        return None
    except ssl.SSLCertVerificationError as error:
        return (
            f"The certificate of {host}:{port} is not trusted here ({error.verify_message}).",
            "Name the authority's file in SSL_CERT_FILE, or use the address that the certificate is for.",
        )
    except ssl.SSLError:
        return f"{host}:{port} does not speak TLS.", "Write http:// in api_base if it is a server of your own."
    except TimeoutError:
        what = "took the connection but does not speak TLS" if secure else "does not answer at all"
        return f"{host}:{port} {what}.", "Correct api_base, or write http:// for a server without TLS."
    except ConnectionRefusedError:
        return f"Nothing listens at {host}:{port}.", "Start the model's server there, or correct api_base."
    except OSError as error:
        return f"{host} cannot be reached ({error.strerror or error}).", "Correct api_base, or look at the network."
