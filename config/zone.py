"""The time zone in which the user lives: the one that is set, else this machine's, by its IANA name.

The rule: a zone is a name of the tz database, never an offset, since only a name knows when the clocks change; what
cannot be found out is UTC.
"""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone(name: str) -> ZoneInfo | None:
    """The zone of an IANA name, or None when there is none of that name."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a name that is a folder, or too long for one
        return None


def machine_zone() -> ZoneInfo:
    """The zone of this machine: TZ, else where /etc/localtime points to (tzlocal knows the ways of each system)."""
    import tzlocal

    try:
        found = tzlocal.reload_localzone()  # not what an earlier call saw: the setting may have moved the process
        name = getattr(found, "key", "")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        name = ""
    return zone(name) or ZoneInfo("UTC")
