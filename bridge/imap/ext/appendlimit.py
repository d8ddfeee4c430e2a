"""APPENDLIMIT (RFC 7889): the size above which an APPEND is refused (by the framer, before its bytes are sent)."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, Standing, StatusItem


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (b"APPENDLIMIT=%d" % standing.append_limit,) if standing.secure else ()


EXTENSION: Final = Extension(
    name="APPENDLIMIT",
    announce=_announce,
    status_items=(StatusItem(b"APPENDLIMIT", lambda _, settings: b"%d" % settings.imap.append_limit),),
    features=frozenset({Feature.APPEND_LIMIT}),
)
