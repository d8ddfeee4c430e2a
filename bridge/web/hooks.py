"""`POST /hooks/ACCOUNT/NAME`: the webhooks over HTTP. Imported with the site, when the first connection comes.

The rule: name and secret first, then the size, then the body, then its meaning; of a signed call the headers first, and
the signature before the meaning. 202 is said after the commit, with the run; a repeat is 202 with the same run.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from agents.trigger_event import Taken
from bridge.webhooks import Call, NoSuchHook, TooOften, Unready, Webhooks, WrongSecret
from config.settings import Signature

KEYS: Final = ("idempotency-key", "webhook-id", "x-github-delivery")
"""Headers that make a call one; the first that is there counts."""

LONGEST_KEY: Final = 200
_REFUSED: Final = {
    "other": (409, "this key came before with another body"),
    "busy": (409, "the run before has not ended, and this webhook leaves out what comes meanwhile"),
    "full": (503, "too much waits, or there is no space; try again later"),
    "off": (503, "this webhook is paused"),
    "often": (429, "too many calls in this hour"),
}
_AGAIN_SECONDS: Final = {"full": 60, "off": 600, "often": 600}


class Refusal(Exception):
    """An answer other than 202."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(text)
        self.response = JSONResponse(
            {"error": text}, status, {name.replace("_", "-"): value for name, value in headers.items()}
        )


async def answer(request: Request, hooks: Webhooks) -> JSONResponse:
    """The whole of it."""
    try:
        name = str(request.path_params["name"]).lower()
        signed = hooks.signature(request.path_params["account"], name)
        with _door(signed):
            ident, key, body = await (_signed(request, hooks, signed) if signed else _opened(request, hooks))
        taken = await hooks.take(Call(ident, name, key, body, _text(request, body)))
    except Refusal as refusal:
        return refusal.response
    except ClientDisconnect:
        return JSONResponse({"error": "the body did not come whole"}, 400)  # nobody reads it; nothing was taken
    return _told(taken)


async def _opened(request: Request, hooks: Webhooks) -> tuple[str, str, bytes]:
    """Trigger, key and body of a call with a secret."""
    where = request.path_params
    ident = await hooks.open(where["account"], where["name"], _secret(request), _peer(request))
    return ident, _key(request), await _body(request, hooks.max_bytes)


async def _signed(request: Request, hooks: Webhooks, signed: Signature) -> tuple[str, str, bytes]:
    """Trigger, key and body of a signed call. A key that nobody signed makes no call another one."""
    account, peer = request.path_params["account"], _peer(request)
    made = await hooks.claim(signed, account, request.headers, peer)
    key = _key(request, made.key)
    body = await _body(request, hooks.max_bytes)
    return await hooks.open_signed(signed, account, made, body, peer), key, body


@contextmanager
def _door(signed: Signature | None) -> Iterator[None]:
    """What keeps a caller out, as answers."""
    try:
        yield
    except NoSuchHook:
        raise Refusal(404, "there is no such webhook") from None
    except WrongSecret as why:
        text = "the secret is missing or wrong; send it as Authorization: Bearer SECRET"
        challenge = {} if signed else {"WWW_Authenticate": "Bearer"}
        raise Refusal(401, str(why) if signed else text, **challenge) from None
    except TooOften as often:
        raise Refusal(429, str(often), Retry_After=f"{often.seconds:.0f}") from None
    except Unready:
        raise Refusal(503, "the signature cannot be checked now; try again later", Retry_After="600") from None


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""


def _secret(request: Request) -> str:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    return request.headers.get("x-postroom-secret", "").strip()


def _key(request: Request, signed: str | None = None) -> str:
    said = next((request.headers[name].strip() for name in KEYS if request.headers.get(name, "").strip()), "")
    key = said if signed is None else signed
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise Refusal(400, f"a key has at most {LONGEST_KEY} printable characters")
    return key


async def _body(request: Request, most: int) -> bytes:
    """The body, of which no more is read than is allowed."""
    said = request.headers.get("content-length", "0")
    if not said.isascii() or not said.isdigit() or int(said) > most:
        raise Refusal(413, f"a body has at most {most} bytes", Connection="close")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "the body must not be compressed")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise Refusal(413, f"a body has at most {most} bytes", Connection="close")
    return bytes(body)


def _text(request: Request, body: bytes) -> str:
    """What the agent is handed: text, and JSON that is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        text = body.decode("utf-8")
        if kind == "application/json" or kind.endswith("+json"):
            _ = json.loads(text or "null")
    except UnicodeDecodeError:
        raise Refusal(415, "the body is not text in UTF-8") from None
    except (ValueError, RecursionError):
        raise Refusal(400, "the body is not the JSON that it says it is") from None
    if "\0" in text:
        raise Refusal(415, "the body holds a NUL and is not text")
    return f"Content-Type: {kind or 'not said'}\n\n{text}"


def _told(taken: Taken) -> JSONResponse:
    if taken.is_kept:
        said: dict[str, Any] = {"run": taken.run, "state": taken.outcome}
        return JSONResponse(said, 202)
    status, text = _REFUSED[taken.outcome]
    again = _AGAIN_SECONDS.get(taken.outcome)
    return JSONResponse({"error": text}, status, {"Retry-After": str(again)} if again else None)
