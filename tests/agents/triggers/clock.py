"""Times as tests write them."""

from datetime import UTC, datetime


def moment(text: str) -> int:
    """A time of day in UTC, as milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
