"""Renderings of messages: what FETCH and SORT say of a message, made once, stored, and read as columns.

The rule: they are made behind the commit that keeps a message, in the order of contents, and `mark` of each kind says
how far that has come; what is not stored is made from the bytes by whoever asks, so nobody can tell the difference.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence

from mailstore import content
from mailstore.model import ContentId
from mailstore.parse import Message, parse
from mailstore.standing import spans
from mailstore.transaction import ReadTx, WriteTx

DENSE = 2  # so many contents are passed over rather than looked for, for each that is wanted

Renderer = Callable[[Message], bytes]


def columns(
    tx: ReadTx, contents: Sequence[ContentId], names: Collection[str], renderers: Mapping[str, Renderer]
) -> dict[str, list[bytes]] | None:
    """For each name the renderings of these contents, in order; what is not stored is made now. None when something is
    not stored that `renderers` does not make, or whose bytes have been swept."""
    if not names:
        return {}
    ranges = _ranges(contents)
    found = {name: tx.pairs("mailstore.renderings.stored", name=name, ranges=ranges) for name in names}
    try:
        return _in_order(found, contents)
    except KeyError:
        _make_missing(tx, contents, found, renderers)
    try:
        return _in_order(found, contents)
    except KeyError:
        return None


def _in_order(found: Mapping[str, Mapping[int, bytes]], contents: Sequence[ContentId]) -> dict[str, list[bytes]]:
    return {name: [*map(each.__getitem__, contents)] for name, each in found.items()}


def _make_missing(
    tx: ReadTx,
    contents: Sequence[ContentId],
    found: Mapping[str, dict[ContentId, bytes]],
    renderers: Mapping[str, Renderer],
) -> None:
    """A message is parsed once for all that is missing of it."""
    for each in dict.fromkeys(contents):
        missing = [name for name, there in found.items() if each not in there and name in renderers]
        if missing and content.exists(tx, each):
            message = parse(content.body(tx, each))
            for name in missing:
                found[name][each] = renderers[name](message)


def _ranges(contents: Sequence[int]) -> str:
    """Contents as queries take them: in one range when at least every other one in it is wanted, so that they are read
    in one sweep; else in runs."""
    if contents and (last := max(contents)) - (first := min(contents)) < DENSE * len(contents):
        return json.dumps([(first, last)])
    return spans(contents)


def marks(tx: ReadTx, names: Collection[str]) -> dict[str, ContentId]:
    """Up to which content each of these kinds is stored of all contents; 0 for a kind that has not been met."""
    known = tx.pairs("mailstore.renderings.marks")
    return {name: ContentId(known.get(name, 0)) for name in names}


def keep(tx: WriteTx, made: Mapping[ContentId, Mapping[str, bytes]], names: Collection[str], mark: ContentId) -> None:
    """Store renderings; with them these kinds are stored of all contents up to `mark`. Contents that were swept
    meanwhile are passed over."""
    tx.many("mailstore.renderings.set-mark", [{"name": name, "mark": mark} for name in names])
    rows = [
        {"name": name, "content": each, "bytes": rendered}
        for each, forms in made.items()
        for name, rendered in forms.items()
    ]
    tx.many("mailstore.renderings.insert", rows)
