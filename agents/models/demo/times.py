"""Reads when a reminder is wanted ("tomorrow at 9", "in two hours", "every Monday at 8") against a given present.

Rule: a time that is not said is not made up, but for three fixed habits: a day without an hour means 09:00, an hour
that is over today means tomorrow, and a date without a year the next one that comes.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.models.demo.text import fold
from agents.models.demo.words import NUMBERS, WEEKDAYS

MORNING, NOON, EVENING = 9, 12, 18
MAX_AHEAD = 9
"""Years (of a day in February: eight) or months looked ahead for a date that comes round."""
_CLOCK = re.compile(
    r"\b(?:at|um|by|gegen)\s+(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|uhr|o'clock)?\b|\b(\d{1,2}):(\d{2})\s*(am|pm)?\b|\b(\d{1,2})\s*(am|pm|uhr)\b"
)
_SPAN = re.compile(
    r"\bin\s+(\d{1,3}|[a-zäöüß]+)\s+(minutes?|hours?|days?|weeks?|months?|minuten?|stunden?|tag(?:en|e)?|wochen?|monat(?:en|e)?)\b"
)
_DATE = re.compile(r"(?:\b(?:on|am)\s+)?\b(?:(\d{4})-(\d{2})-(\d{2})\b|(\d{1,2})\.(\d{1,2})\.(\d{4})?)")
_MONTHS = (
    "jan(?:uary|uar)?", "feb(?:ruary|ruar)?", "mar(?:ch)?|märz", "apr(?:il)?", "may|mai", "june?|juni", "july?|juli",
    "aug(?:ust)?", "sept?(?:ember)?", "o[ck]t(?:ober)?", "nov(?:ember)?", "de[cz](?:ember)?",
)  # packed, to be seen at a glance  # fmt: skip
_MONTH = "|".join(_MONTHS)
_NAMED_DATE = re.compile(
    rf"(?:\b(?:on|am)\s+)?(?:\bthe\s+)?\b(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?({_MONTH})\b\.?|({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b)"
    r"(?:,?\s+(\d{4})\b)?"
)
_MONTH_DAY = re.compile(r"\b(?:on|by)\s+the\s+(\d{1,2})(?:st|nd|rd|th)\b|\bam\s+(\d{1,2})\.(?!\s*\d)")
_EVERY = re.compile(
    r"\b(?:every|each|jede[nrs]?)\s+(hour|stunde|weekday|working\s+day|workday|werktag|day|morning|evening|tag|morgen|abend"
    r"|week|woche|month|monat|\w+)\b|\b(daily|täglich|weekly|wöchentlich|monthly|monatlich|hourly|stündlich)\b"
)
_FILLER = re.compile(
    r"^(?:please\s+|bitte\s+|can\s+you\s+|could\s+you\s+|and\s+|und\s+)*(?:remind\s+(?:me|us)|set\s+(?:me\s+)?a\s+reminder|create\s+a\s+reminder"
    r"|ping\s+me|nudge\s+me|erinner\w*\s+(?:mich|uns)|kannst\s+du\s+mich)\b",
    re.IGNORECASE,
)
_TODAY = re.compile(r"\b(?:today|tonight|heute|this\s+(?:afternoon|evening))\b")
_TOMORROW = re.compile(r"\b(?:tomorrow|(?<!jeden )(?<!am )(?<!guten )morgen|übermorgen)\b")


@dataclass(frozen=True, slots=True)
class Due:
    """When (local wall time), how often ("" is once, as the reminder tool has it), and the words without the time."""

    at: datetime
    every: str
    what: str


def read_due(said: str, now: datetime) -> Due | None:
    """The time in a reminder's words; None when none is said."""
    folded = fold(said)
    every = _every(folded)
    span = _SPAN.search(folded)
    clock = _clock(folded)
    if span and not every:
        at = _after(now, span)
        if at is None:
            return None
        return Due(at.replace(hour=clock[0], minute=clock[1]) if clock else at, every, what_of(said))
    hour, minute = clock or _habit(folded)
    if _names_date(folded):
        date = _date(folded, now, hour, minute)
        return Due(date, every, what_of(said)) if date else None
    day = _day(folded, now)
    if day is None and (clock is None or _past_day(folded)) and not every:
        return None
    at = (day or now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    step = timedelta(days=7) if day is not None and _weekday(folded) is not None else timedelta(days=1)
    while at <= now:
        at += step
    return Due(_first(at, every), every, what_of(said))


def _first(at: datetime, every: str) -> datetime:
    while every == "weekday" and at.weekday() > 4:
        at += timedelta(days=1)
    return at


def _clock(folded: str) -> tuple[int, int] | None:
    found = _CLOCK.search(folded)
    if not found:
        return _named_hour(folded)
    hour = int(found.group(1) or found.group(4) or found.group(7))
    minute = int(found.group(2) or found.group(5) or 0)
    half = found.group(3) or found.group(6) or found.group(8)
    if half == "pm" and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return (hour, minute) if hour < 24 and minute < 60 else None


def _named_hour(folded: str) -> tuple[int, int] | None:
    if re.search(r"\b(?:noon|mittags?)\b", folded):
        return NOON, 0
    if re.search(r"\b(?:tonight|evening|abends?)\b", folded):
        return EVENING, 0
    found = re.search(r"\b(?:at|um)\s+([a-zäöüß]+)\b", folded)
    hour = NUMBERS.get(found.group(1)) if found else None
    return (hour, 0) if hour else None


def _habit(folded: str) -> tuple[int, int]:
    return (15, 0) if re.search(r"\b(?:afternoon|nachmittags?)\b", folded) else (MORNING, 0)


def _after(now: datetime, span: re.Match[str]) -> datetime | None:
    count = int(span.group(1)) if span.group(1).isdigit() else NUMBERS.get(span.group(1), 0)
    unit = span.group(2)
    steps = (
        ("min", timedelta(minutes=1)),
        ("hour", timedelta(hours=1)),
        ("stund", timedelta(hours=1)),
        ("day", timedelta(days=1)),
        ("tag", timedelta(days=1)),
        ("we", timedelta(days=7)),
        ("wo", timedelta(days=7)),
        ("mon", timedelta(days=30)),
    )
    step = next(step for start, step in steps if unit.startswith(start))
    return (now + step * count).replace(second=0, microsecond=0) if count else None


def _day(folded: str, now: datetime) -> datetime | None:
    if "übermorgen" in folded or "day after tomorrow" in folded:
        return now + timedelta(days=2)
    if _TOMORROW.search(folded) and not _every(folded):
        return now + timedelta(days=1)
    if _TODAY.search(folded):
        return now
    if re.search(r"\b(?:next\s+week|nächste\s+woche)\b", folded):
        return now + timedelta(days=7 - now.weekday())
    weekday = _weekday(folded)
    return now + timedelta(days=(weekday - now.weekday()) % 7) if weekday is not None else None


def _names_date(folded: str) -> bool:
    return any(pattern.search(folded) for pattern in (_DATE, _NAMED_DATE, _MONTH_DAY))


def _past_day(folded: str) -> bool:
    return bool(re.search(r"\b(?:yesterday|gestern)\b", folded))


def _date(folded: str, now: datetime, hour: int, minute: int) -> datetime | None:
    """The next time that a date without a year, or without a month, comes round; None when it is over or no date."""
    year, month, day = _numbers(folded)
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    for ahead in range(MAX_AHEAD):
        at_year, at_month = (year or now.year + (ahead if month else 0)), month or now.month
        if not month:
            at_year, at_month = now.year + (now.month - 1 + ahead) // 12, (now.month - 1 + ahead) % 12 + 1
        try:
            found = at.replace(year=at_year, month=at_month, day=day)
        except ValueError:
            continue
        if found > now:
            return found
    return None


def _numbers(folded: str) -> tuple[int, int, int]:
    """Year, month and day as written; 0 for what is left out."""
    date, named = _DATE.search(folded), _NAMED_DATE.search(folded)
    if date and date.group(1):
        return int(date.group(1)), int(date.group(2)), int(date.group(3))
    if date:
        return int(date.group(6) or 0), int(date.group(5)), int(date.group(4))
    if named:
        name = named.group(2) or named.group(3)
        month = next(number for number, one in enumerate(_MONTHS, 1) if re.fullmatch(one, name))
        return int(named.group(5) or 0), month, int(named.group(1) or named.group(4))
    alone = _MONTH_DAY.search(folded)
    return 0, 0, int(next(filter(None, alone.groups()))) if alone else 0


def _weekday(folded: str) -> int | None:
    return next((number for name, number in WEEKDAYS.items() if re.search(rf"\b{name}s?\b", folded)), None)


def _every(folded: str) -> str:
    found = _EVERY.search(folded)
    if not found:
        return ""
    word = found.group(1) or found.group(2)
    if word in WEEKDAYS or (word.startswith(("week", "woch", "wöch")) and not word.startswith("weekday")):
        return "week"
    for every, starts in (
        ("hour", ("hour", "stund", "stünd")),
        ("weekday", ("weekday", "work", "werktag")),
        ("month", ("month", "monat")),
        ("day", ("day", "dai", "tag", "täg", "morn", "morgen", "even", "abend")),
    ):
        if word.startswith(starts):
            return every
    return ""


def what_of(said: str) -> str:
    """What to be reminded of: the words without "remind me" and without those that say when."""
    text = _FILLER.sub("", said.strip()).strip()
    for pattern in (_EVERY, _SPAN, _NAMED_DATE, _CLOCK, _DATE, _MONTH_DAY, _TODAY, _TOMORROW):
        text = _cut(pattern, text)
    days = "|".join(WEEKDAYS)
    text = re.sub(rf"\b(?:(?:on|next|am|nächsten?|this)\s+)*(?:{days})s?\b", " ", text, flags=re.IGNORECASE)
    text = re.sub(
        r"\b(?:next\s+week|nächste\s+woche|at\s+noon|day\s+after|in\s+the\s+(?:morning|evening|afternoon))\b",
        " ",
        text,
        flags=re.IGNORECASE,
    )
    text = _FILLER.sub("", " ".join(text.split()).strip(" ,")).strip()
    text = re.sub(
        r"^[\s,]*(?:(?:to|that|about|of|an|daran|dass|zu|,)\s+)*", "", " ".join(text.split()), flags=re.IGNORECASE
    )
    text = text.strip(" .,!?")
    return text[:1].upper() + text[1:]


def _cut(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(fold(text))
    return text[: found.start()] + " " + text[found.end() :] if found and len(fold(text)) == len(text) else text
