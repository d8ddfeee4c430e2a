"""The SQL of the bridge: its numbered migrations, what they add up to (`schema.sql`), and its named queries."""

from importlib.resources import files

from mailstore.sqlite import Series


def series() -> Series:
    """The "bridge" series, to be opened after mailstore's and agents'."""
    return Series("bridge", files(__name__))
