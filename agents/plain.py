"""Times in plain words, English and German, as a rule in its one spelling: "every weekday at 8", "morgen um 14 Uhr",
"in 20 minutes", "first of the month at noon", or cron text.

The rule: nothing is guessed but two fixed habits: a day without an hour means 09:00, and an hour that is over today
means tomorrow. What was read is always shown again before it counts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final

from agents.rule import DAYS, SpecFault, to_key
from agents.triggers import cron

MORNING: Final = (9, 0)
LONGEST: Final = 4000
"""A time is looked for in so many characters; a text may be of any length."""

_GERMAN: Final = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_SHORT: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY: Final[Mapping[str, int]] = {
    **{name.lower(): number for number, name in enumerate(DAYS)},
    **{name: number for number, name in enumerate(_GERMAN)},
    **{name: number for number, name in enumerate(_SHORT)},
    "tues": 1,
    "thurs": 3,
    "sonnabend": 5,
}
_NUMBER: Final[Mapping[str, int]] = {
    word: number
    for number, words in enumerate(
        (
            "a an one ein eins eine einer einem",
            "two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben", "eight acht",
            "nine neun", "ten zehn", "eleven elf", "twelve zwölf",
        ),
        1,
    )
    for word in words.split()
} | {"fifteen": 15, "fünfzehn": 15, "twenty": 20, "zwanzig": 20, "thirty": 30, "dreißig": 30}  # packed  # fmt: skip
_ORDINAL: Final[Mapping[str, int]] = {
    "first": 1, "second": 2, "third": 3, "last": 31, "ersten": 1, "zweiten": 2, "dritten": 3, "letzten": 31,
}  # packed, to be seen at a glance  # fmt: skip
_PARTS: Final[Mapping[str, tuple[int, int]]] = {
    "noon": (12, 0), "midday": (12, 0), "midnight": (0, 0), "mittag": (12, 0), "mittags": (12, 0),
    "mitternacht": (0, 0), "afternoon": (15, 0), "nachmittag": (15, 0), "nachmittags": (15, 0), "evening": (18, 0),
    "abend": (18, 0), "abends": (18, 0), "tonight": (18, 0), "morning": MORNING, "mornings": MORNING,
    "evenings": (18, 0), "afternoons": (15, 0),
}  # packed, to be seen at a glance  # fmt: skip

_LONG_DAY: Final = "|".join(sorted((*(day.lower() for day in DAYS), *_GERMAN, "sonnabend"), key=len, reverse=True))
_ANY_DAY: Final = f"(?:{_LONG_DAY}|{'|'.join(('tues', 'thurs', *_SHORT))})"
_EACH: Final = r"(?:every|each|jeden|jede|jedes|jeder|an\s+jedem)"
_WORDS: Final = "|".join(sorted((word for word in _NUMBER if word not in ("a", "an")), key=len, reverse=True))
_COUNT: Final = rf"(\d{{1,3}}|an?|{_WORDS})"
_CLOCK: Final = re.compile(
    rf"\b(?:at|um|gegen|by)\s+(?P<h1>\d{{1,2}}|{_WORDS})(?:[:.h](?P<m1>\d{{2}}))?(?:\s*(?P<s1>am|pm|a\.m\.|p\.m\.|uhr"
    r"|o'clock)(?:\s+(?P<u1>\d{2})\b)?)?(?!\s*(?:%|eur|percent|minutes|hours|days))(?![\w.:]*\d)"
    r"|\b(?P<h2>\d{1,2})[:.](?P<m2>\d{2})(?:\s*(?P<s2>am|pm|uhr))?\b(?![.\d])"
    r"|\b(?P<h3>\d{1,2})\s*(?P<s3>am|pm|uhr)\b(?:\s+(?P<u3>\d{2})\b)?"
    rf"|\b(?:(?:at|um|am|in\s+the|zu)\s+)?(?P<part>{'|'.join(sorted(_PARTS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_FIELD: Final = r"[\d*][\d*,/-]*"
_NAMES: Final = "(?:{})(?:[-,](?:{}))*"
_CRON: Final = re.compile(
    r"(?:\bcron:?\s*)?[\"'`]?((?<![\w.])@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)\b"
    rf"|(?<![\w.,])(?:{_FIELD}\s+){{3}}(?:{_FIELD}|{_NAMES.format(*['|'.join(cron.MONTHS)] * 2)})"
    rf"\s+(?:{_FIELD}|{_NAMES.format(*['|'.join(cron.WEEKDAYS)] * 2)})(?!\w))[\"'`]?",
    re.IGNORECASE,
)
_MONTHS: Final[Mapping[str, int]] = {
    name: number
    for names in (
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
    )
    for number, name in enumerate(names.split(), 1)
}
_MONTH_NAMES: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Found:
    """A time in a text: its spelling as a rule, the words that said it, and the text without them."""

    when: str
    said: str
    rest: str


@dataclass(frozen=True, slots=True)
class _Day:
    """The day part of a time: `build` makes the rule's spelling from an hour and a minute."""

    build: Callable[[int, int], str]
    once: bool = False


_Reader = Callable[["re.Match[str]", datetime], _Day | str | timedelta]
Later = Callable[[timedelta], datetime]
"""The local minute that is so long after the present."""


def read(text: str, now: datetime, later: Later | None = None) -> Found | None:
    """The first time that a text names, against the present (local, without zone). Raises SpecFault for a time that
    is wrong ("the 31st of February"). `later` counts hours and minutes where the clocks may change meanwhile.
    """
    found = _read(text[:LONGEST], now, later or now.__add__)
    return replace(found, rest=found.rest + text[LONGEST:]) if found is not None and len(text) > LONGEST else found


def _read(text: str, now: datetime, later: Later) -> Found | None:
    if (line := _CRON.search(text)) is not None and (rule := cron.read(line[1])) is not None:
        return Found(rule.spec, line[0].strip(), _without(text, [line.span()]))
    for pattern, reader in _READERS:
        for match in pattern.finditer(text):
            meant = reader(match, now)
            if isinstance(meant, timedelta):
                meant = to_key(later(meant))
            if isinstance(meant, str):
                return Found(meant, match[0].strip(), _without(text, [match.span()]))
            return _with_clock(text, match, meant, now)
    return _only_clock(text, now)


def _with_clock(text: str, match: "re.Match[str]", day: _Day, now: datetime) -> Found:
    """A day with the hour that stands nearest to it in the same sentence."""
    start, end = _sentence(text, match.span())
    clocks = [found for found in _CLOCK.finditer(text, start, end) if _hour(found) is not None]
    clocks = [found for found in clocks if found.end() <= match.start() or found.start() >= match.end()]
    inside = _PARTS.get(match[0].split()[-1].lower())
    clock = min(clocks, key=lambda found: _distance(found.span(), match.span()), default=None)
    hour, minute = (_hour(clock) if clock else None) or inside or MORNING
    spans = [match.span(), *([clock.span()] if clock else [])]
    said = " ".join(text[first:last].strip() for first, last in sorted(spans))
    return Found(day.build(hour, minute), said, _without(text, spans))


def _only_clock(text: str, now: datetime) -> Found | None:
    """An hour and no day: the next time that it is so late."""
    for found in _CLOCK.finditer(text):
        clock = _hour(found)
        if clock is not None and not (found["part"] and found["part"].lower().startswith("morning")):
            at = now.replace(hour=clock[0], minute=clock[1])
            return Found(
                to_key(at if at > now else at + timedelta(days=1)), found[0].strip(), _without(text, [found.span()])
            )
    return None


def _hour(found: "re.Match[str]") -> tuple[int, int] | None:
    if found["part"]:
        return _PARTS[found["part"].lower()]
    said = found["h1"] or found["h2"] or found["h3"]
    hour = int(said) if said.isdigit() else _NUMBER.get(said.lower(), 99)
    minute = int(found["m1"] or found["m2"] or found["u1"] or found["u3"] or 0)
    half = (found["s1"] or found["s2"] or found["s3"] or "").lower().replace(".", "")
    if half == "pm" and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return (hour, minute) if hour < 24 and minute < 60 else None


def _sentence(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The line around a place, cut at the ends of sentences."""
    start = max(text.rfind("\n", 0, span[0]), text.rfind(". ", 0, span[0]), text.rfind(": ", 0, span[0])) + 1
    ends = [place for mark in ("\n", ". ", ": ") if (place := text.find(mark, span[1])) >= 0]
    return start, min(ends, default=len(text)) + 1


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(other[0] - one[1], one[0] - other[1])


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text without what said the time, and without the marks that this leaves behind."""
    for first, last in sorted(spans, reverse=True):
        text = text[:first] + " " + text[last:]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    rest = "\n".join(lines).strip().lstrip(",;:.–—- \n").rstrip(",;:–—- \n")
    rest = re.sub(r"\s+([.,;!?])", r"\1", rest)
    return re.sub(r"^(?:on|at|am|um|and|und|then|dann|bitte|please)\b[\s,]*", "", rest, flags=re.IGNORECASE).strip()


# --- what can be said


def _weekdays(match: "re.Match[str]", now: datetime) -> _Day:
    return _on("*", "1-5")


def _weekend(match: "re.Match[str]", now: datetime) -> _Day:
    return _on("*", "0,6")


def _daily(match: "re.Match[str]", now: datetime) -> _Day:
    return _on("*", "*")


def _range(match: "re.Match[str]", now: datetime) -> _Day:
    first, last = _day_number(match[1]), _day_number(match[2])
    days = [(first + step) % 7 for step in range((last - first) % 7 + 1)]
    return _on("*", _cron_days(days))


def _named(match: "re.Match[str]", now: datetime) -> _Day:
    return _on("*", _cron_days([_day_number(word) for word in re.findall(_ANY_DAY, match[1], re.IGNORECASE)]))


def _weekly(match: "re.Match[str]", now: datetime) -> _Day:
    return _on("*", _cron_days([now.weekday()]))


def _month_day(match: "re.Match[str]", now: datetime) -> _Day:
    said = (match["day"] or match["day2"] or "1").lower().rstrip(".")
    digits = re.match(r"\d+", said)
    day = int(digits[0]) if digits else _ORDINAL[said]
    if not 1 <= day <= 31:
        raise SpecFault(f"there is no {day}. day of a month")
    if day > 28:
        return _Day(lambda hour, minute: f"every month from 2000-01-{day}T{hour:02}:{minute:02}")
    return _on(str(day), "*")


def _steps(match: "re.Match[str]", now: datetime) -> _Day | str:
    count, unit = _count(match[1]), match[2].lower()
    if unit.startswith("min"):
        if not 1 <= count < 60 or 60 % count:
            raise SpecFault(f"every {count} minutes does not fit an hour; 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 and 30 do")
        return f"*/{count} * * * *" if count > 1 else "* * * * *"
    if unit.startswith(("h", "s")):
        if not 1 <= count < 24 or 24 % count:
            raise SpecFault(f"every {count} hours does not fit a day; 1, 2, 3, 4, 6, 8 and 12 do")
        return f"0 */{count} * * *" if count > 1 else "0 * * * *"
    if count == 1:
        return _on("*", "*")
    raise SpecFault(f'"{match[0].strip()}" cannot be kept; name the days instead')


def _hourly(match: "re.Match[str]", now: datetime) -> str:
    return "0 * * * *"


def _after(match: "re.Match[str]", now: datetime) -> _Day | timedelta:
    count, unit = _count(match[1]), match[2].lower()
    if unit.startswith(("min", "hour", "stund")):
        return timedelta(minutes=count) if unit.startswith("min") else timedelta(hours=count)
    if unit.startswith("mon"):
        months = now.year * 12 + now.month - 1 + count
        day = min(now.day, 28)
        return _once(now.replace(year=months // 12, month=months % 12 + 1, day=day), now)
    return _once(now + timedelta(days=count * (7 if unit.startswith("w") else 1)), now)


def _tomorrow(match: "re.Match[str]", now: datetime) -> _Day:
    far = "after" in match[0].lower() or "über" in match[0].lower()
    return _once(now + timedelta(days=2 if far else 1), now)


def _today(match: "re.Match[str]", now: datetime) -> _Day:
    return _once(now, now)


def _next_day(match: "re.Match[str]", now: datetime) -> _Day:
    ahead = (_day_number(match[1]) - now.weekday()) % 7

    def build(hour: int, minute: int) -> str:
        at = now.replace(hour=hour, minute=minute) + timedelta(days=ahead)
        return to_key(at if at > now else at + timedelta(days=7))

    return _Day(build, once=True)


def _iso(match: "re.Match[str]", now: datetime) -> _Day | str:
    return _dated(int(match[1]), int(match[2]), int(match[3]), now, match[4])


def _dotted(match: "re.Match[str]", now: datetime) -> _Day | str:
    return _dated(int(match[3]) if match[3] else None, int(match[2]), int(match[1]), now, None)


def _written(match: "re.Match[str]", now: datetime) -> _Day | str:
    day, month, year = match[1] or match[4], match[2] or match[3], match[5]
    return _dated(int(year) if year else None, _MONTHS[month.lower()], int(day), now, None)


def _dated(year: int | None, month: int, day: int, now: datetime, clock: str | None) -> _Day | str:
    try:
        at = datetime.combine(date(year or now.year, month, day), time())
    except ValueError:
        raise SpecFault(f"there is no day {day}.{month}.{year or ''}") from None
    if year is None and at.date() < now.date():
        at = at.replace(year=at.year + 1)
    return f"{at:%Y-%m-%d}T{clock}" if clock else _once(at, now)


def _once(day: datetime, now: datetime) -> _Day:
    def build(hour: int, minute: int) -> str:
        at = day.replace(hour=hour, minute=minute)
        return to_key(at if at > now or day.date() != now.date() else at + timedelta(days=1))

    return _Day(build, once=True)


def _on(day: str, weekday: str) -> _Day:
    return _Day(lambda hour, minute: f"{minute} {hour} {day} * {weekday}")


def _day_number(word: str) -> int:
    low = word.lower()
    return _WEEKDAY[low] if low in _WEEKDAY else _WEEKDAY[low.rstrip("s")]


def _cron_days(days: Sequence[int]) -> str:
    """Days from Monday = 0 as a cron field: runs of three or more as a range."""
    numbers = sorted({(day + 1) % 7 for day in days})
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBER[word.lower()]


def _pattern(text: str) -> "re.Pattern[str]":
    return re.compile(text, re.IGNORECASE)


_WORKDAY: Final = r"(?:weekday|week\s+day|working\s+(?:day|morning)|work\s?day|business\s+day|werktags?|arbeitstag)"
_OF_MONTH: Final = r"(?:of\s+)?(?:(?:the|every|each)\s+month|(?:des|jedes|jeden|im)\s+monats?)"
_READERS: Final[tuple[tuple["re.Pattern[str]", _Reader], ...]] = (
    (_pattern(rf"\b(?:{_EACH}\s+|on\s+|an\s+|am\s+)?{_WORKDAY}s?\b(?:\s+mornings?)?"), _weekdays),
    (_pattern(rf"\b(?:every|alle)\s+{_COUNT}\s+(minutes?|hours?|days?|weeks?|minuten|stunden|tage|wochen)\b"), _steps),
    (_pattern(rf"\b(?:{_EACH}\s+(minute)|minütlich)\b"), lambda match, now: "* * * * *"),
    (_pattern(rf"\b(?:{_EACH}\s+(?:hour|stunde)|hourly|stündlich)\b"), _hourly),
    (
        _pattern(
            rf"\b(?:(?:on|am)\s+)?(?:the\s+)?(?P<day>\d{{1,2}}(?:st|nd|rd|th|\.)?|{'|'.join(_ORDINAL)})\s+(?:(?:day|tag)\s+)?{_OF_MONTH}"
            rf"|\b(?:{_EACH}\s+(?:month|monat)|monthly|monatlich)(?:\s+(?:on|am)\s+(?:the\s+)?(?P<day2>\d{{1,2}}(?:st|nd|rd|th|\.)?))?"
        ),
        _month_day,
    ),
    (
        _pattern(
            rf"\b(?:{_EACH}\s+|on\s+|from\s+|von\s+)?({_ANY_DAY})s?\s*(?:-|–|to|till|until|through|bis)\s*({_ANY_DAY})s?\b"
        ),
        _range,
    ),
    (
        _pattern(rf"\b{_EACH}\s+({_ANY_DAY}s?(?:\s*(?:,|and|und|&|,\s*and)\s*(?:{_EACH}\s+)?{_ANY_DAY}s?)*)\b"),
        _named,
    ),
    (
        _pattern(rf"\b(?:on\s+)?((?:{_LONG_DAY})s(?:\s*(?:,|and|und|&|,\s*and)\s*(?:{_LONG_DAY})s)*)\b"),
        _named,
    ),
    (_pattern(rf"\b(?:{_EACH}\s+(?:weekend|wochenende)|on\s+weekends|at\s+the\s+weekend|am\s+wochenende)\b"), _weekend),
    (
        _pattern(
            rf"\b(?:{_EACH}\s+(?:single\s+)?(?:day|morning|evening|afternoon|noon|tag|morgen|abend|mittag)|daily|täglich)\b"
        ),
        _daily,
    ),
    (_pattern(rf"\b(?:{_EACH}\s+(?:week|woche)|weekly|wöchentlich)\s+(?:on|am)\s+({_ANY_DAY}s?)\b"), _named),
    (_pattern(rf"\b(?:{_EACH}\s+(?:week|woche)|weekly|wöchentlich)\b"), _weekly),
    (
        _pattern(
            rf"\bin\s+{_COUNT}\s+(minutes?|mins?|hours?|days?|weeks?|months?|minuten?|stunden?|tag(?:en|e)?|wochen?|monat(?:en|e)?)\b"
        ),
        _after,
    ),
    (
        _pattern(r"\b(?:(?:the\s+)?day\s+after\s+tomorrow|übermorgen|tomorrow|(?<!guten )morgen)\b(?:\s+früh)?"),
        _tomorrow,
    ),
    (_pattern(r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}))?\b"), _iso),
    (_pattern(r"\b(?:(?:on|am)\s+)?(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?"), _dotted),
    (
        _pattern(
            rf"\b(?:(?:on|am)\s+)?(?:the\s+)?(?:(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?({_MONTH_NAMES})|({_MONTH_NAMES})\s+(\d{{1,2}})(?:st|nd|rd|th)?)\b(?:,?\s+(\d{{4}})\b)?"
        ),
        _written,
    ),
    (_pattern(rf"\b(?:(?:on|next|this|am|nächsten?|kommenden?)\s+)+({_ANY_DAY})\b"), _next_day),
    (_pattern(rf"\b({_LONG_DAY})(?=\s+(?:at|um|\d))"), _next_day),
    (_pattern(r"\b(?:today|tonight|heute|this\s+(?:afternoon|evening))\b"), _today),
)
