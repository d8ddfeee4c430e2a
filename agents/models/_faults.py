"""Why a provider's call failed: by its HTTP status first, then by class and text; with words that hold no key.

The rule: a fault is only called final (auth, quota, refused, gone) when trying again cannot help.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agents.llm import ModelError, ModelFault

MAX_TEXT = 300
_KEYS = re.compile(
    r"\b(?:sk|pk|key|xai|gsk|AIza|ghp|hf)[-_][A-Za-z0-9_*.-]{4,}|\bAIza[\w-]{20,}|\bBearer\s+\S+", re.IGNORECASE
)
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\s*(?::|-)\s*)+")
_TAIL = re.compile(
    r"\.?\s+(?:Original exception|Received Model Group|Traceback|LiteLLM Retried|Handle with)\b.*", re.DOTALL
)
_BODY = re.compile(r"""(?:b(?=['"]))?(['"]?)(\{.*\})\1""")
_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|context_length_exceeded|exceed_context_size|too many tokens"
    r"|prompt is too long|input (?:is )?too long|longer than the model",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|credit balance|out of credits|payment required",
    re.IGNORECASE,
)


def classify(error: Exception, key: str) -> ModelError:
    """A library's exception as ours."""
    text = readable(error, key)
    kind = _kind(error, f"{error} {getattr(error, 'body', '')}")
    status = _status(error)
    shown = f"{status}: {text}" if status and str(status) not in text[:5] else text
    return ModelError(kind, shown, _retry_after(error) if kind in (ModelFault.RATE, ModelFault.TRANSIENT) else None)


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _kind(error: Exception, text: str) -> ModelFault:
    name, status = type(error).__name__, _status(error)
    if name == "Timeout" or status == 408:
        return ModelFault.TIMEOUT
    if name == "ContextWindowExceededError" or status == 413 or (status in (400, 422) and _OVERFLOW.search(text)):
        return ModelFault.CONTEXT
    if status == 429:
        return ModelFault.QUOTA if _QUOTA.search(text) else ModelFault.RATE
    if status is not None and status >= 500:
        return ModelFault.TRANSIENT
    by_status = {401: ModelFault.AUTH, 403: ModelFault.AUTH, 402: ModelFault.QUOTA, 404: ModelFault.GONE}
    if status in by_status:
        return by_status[status]
    if status is None and ("Connection" in name or isinstance(error, OSError)):
        return ModelFault.TRANSIENT
    return ModelFault.REFUSED


def readable(error: Exception, key: str) -> str:
    """The provider's words: short, on one line, without class names, without the key or anything that looks like
    one.
    """
    text = " ".join(_TAIL.sub("", str(error)).split())
    text = _BODY.sub(_said, _PREFIX.sub("", text)) or type(error).__name__
    if key:
        text = text.replace(key, "[key]")
    text = _KEYS.sub("[key]", text)
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3]}..."


def _said(found: re.Match[str]) -> str:
    """The message in a body that a library gives as it came; anything else stays as it is."""
    try:
        body = json.loads(found[2])
    except (ValueError, RecursionError):
        return found[0]
    error = body.get("error", body)
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) and said.strip() else found[0]


def _retry_after(error: Exception) -> float | None:
    headers: Any = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    value = headers.get("retry-after") if isinstance(headers, Mapping) or hasattr(headers, "get") else None
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
