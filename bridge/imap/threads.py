"""Threads of messages (RFC 5256 section 3, and REFS of draft-ietf-morg-inthread): entries in, trees out.

Rule: linear but for sorting, whatever ordinary mail says: loops are found by merging sets, and trees are walked with a
stack of our own, as a thread may be as deep as a mailbox is long.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from bridge.imap.ordering import Entry

FIRST: Final = -(1 << 62)


@dataclass(slots=True, eq=False)
class Node:
    """A message in a tree, or, without an entry, one that is only referred to."""

    entry: Entry | None = None
    parent: "Node | None" = None
    children: "list[Node]" = field(default_factory=list)


def ordered_subject(entries: Sequence[Entry]) -> list[Node]:
    """Messages of one subject are one thread: the oldest, and the others below it; threads by their oldest."""
    groups: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=_sent):
        groups.setdefault(entry.subject, []).append(entry)
    return [Node(first, children=[Node(entry) for entry in others]) for first, *others in groups.values()]


def by_references(entries: Sequence[Entry]) -> list[Node]:
    """RFC 5256 REFERENCES: linked by Message-IDs, then roots of one subject are put together."""
    roots = _by_subject(_by_date(_pruned(_linked(entries))))
    return _by_date(roots)


def by_refs(entries: Sequence[Entry]) -> list[Node]:
    """REFS: linked by Message-IDs alone; the thread with the newest message last."""
    return sorted(_by_date(_pruned(_linked(entries))), key=_newest)


ALGORITHMS: Final[dict[bytes, Callable[[Sequence[Entry]], list[Node]]]] = {
    b"ORDEREDSUBJECT": ordered_subject,
    b"REFERENCES": by_references,
    b"REFS": by_refs,
}


# Linking (step 1)


class _Links:
    """Parents, given one after the other as the RFC has it, so that of contradictions the first counts.

    Nodes that have ever hung together are in one set; between sets no link can close a loop. Within a set the way up
    has to be walked only if a link was taken back in it: otherwise whoever has no parent is above all others.
    """

    def __init__(self) -> None:
        self._sets: dict[Node, Node] = {}
        self._broken = False

    def link(self, parent: Node, child: Node) -> None:
        """Put a node below another, unless it has a parent or that would close a loop."""
        if child.parent is None and not self._loops(parent, child):
            self._join(parent, child)

    def relink(self, parent: Node, child: Node) -> None:
        """Put a message where it says itself that it belongs (step 1.B)."""
        if child.parent is parent or self._loops(parent, child):
            return
        self._broken = self._broken or child.parent is not None
        self._join(parent, child)

    def _join(self, parent: Node, child: Node) -> None:
        child.parent = parent
        one, other = self._set_of(parent), self._set_of(child)
        if one is not other:
            self._sets[other] = one

    def _loops(self, parent: Node, child: Node) -> bool:
        if parent is child:
            return True
        if self._set_of(parent) is not self._set_of(child):
            return False
        if not self._broken and child.parent is None:
            return True
        node: Node | None = parent
        while node is not None and node is not child:
            node = node.parent
        return node is not None

    def _set_of(self, node: Node) -> Node:
        path = []
        while (above := self._sets.get(node)) is not None:
            path.append(node)
            node = above
        for each in path[:-1]:
            self._sets[each] = node
        return node


def _linked(entries: Sequence[Entry]) -> list[Node]:
    """All nodes, with their parents and children."""
    table: dict[str, Node] = {}
    own: list[Node] = []
    for entry in entries:
        message_id = entry.keys.message_id
        node = table.get(message_id) if message_id else None
        if node is None or node.entry is not None:  # without an id, or with one that is taken: a message of its own
            node = Node()
            table.setdefault(message_id or f"\n{entry.uid}", node)
        node.entry = entry
        own.append(node)
    links = _Links()
    for node in own:
        assert node.entry is not None
        chain = [_named(table, reference) for reference in node.entry.keys.references]
        for above, below in pairwise(chain):
            links.link(above, below)
        if chain:
            links.relink(chain[-1], node)
    nodes = list(dict.fromkeys((*own, *table.values())))
    for node in nodes:
        if node.parent is not None:
            node.parent.children.append(node)
    return nodes


def _named(table: dict[str, Node], message_id: str) -> Node:
    node = table.get(message_id)
    if node is None:
        node = table[message_id] = Node()
    return node


# Pruning (steps 2 and 3)


def _pruned(nodes: Iterable[Node]) -> list[Node]:
    """The roots, without nodes that stand for nothing: a message that is not here stays only where it binds several."""
    roots: list[Node] = []
    for root in [node for node in nodes if node.parent is None]:
        for node in _below(root) if root.children else ():
            if any(child.entry is None for child in node.children):
                node.children = [
                    kept for child in node.children for kept in (child.children if child.entry is None else [child])
                ]
        if root.entry is not None or len(root.children) > 1:
            roots.append(root)
        else:
            roots += root.children
    return roots


def _below(root: Node) -> list[Node]:
    """The node and all below it, children before their parents."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children)
    return found[::-1]


# Subjects (step 5)


def _by_subject(roots: Sequence[Node]) -> list[Node]:
    table: dict[str, Node] = {}
    for root in roots:
        subject = _first(root).subject
        there = table.get(subject)
        if subject and (there is None or _better(root, there)):
            table[subject] = root
    merged: dict[Node, None] = {}
    for root in roots:
        there = table.get(_first(root).subject)
        if there is None or there is root:
            merged.setdefault(root)
        else:
            _merge(there, root, merged)
    return list(merged)


def _first(root: Node) -> Entry:
    entry = root.entry or root.children[0].entry
    assert entry is not None  # below a node that is only referred to stand messages
    return entry


def _better(root: Node, there: Node) -> bool:
    """A missing message before one that is here, and one that answers nothing before one that does (step 5.B)."""
    if root.entry is None or there.entry is None:
        return root.entry is None and there.entry is not None
    return there.entry.keys.replies and not root.entry.keys.replies


def _merge(there: Node, root: Node, merged: dict[Node, None]) -> None:
    """Step 5.C; `there` is where the table has this subject, and may become a node that only binds."""
    if there.entry is None and root.entry is None:
        there.children += root.children
    elif there.entry is None or (root.entry is not None and root.entry.keys.replies and not there.entry.keys.replies):
        there.children.append(root)
    else:
        there.children = [Node(there.entry, children=there.children), root]
        there.entry = None
    merged.setdefault(there)


# Dates and order (steps 4 and 6)


def _sent(entry: Entry) -> tuple[int, int]:
    return entry.sent, entry.uid


def _by_date(roots: Sequence[Node]) -> list[Node]:
    """The roots, and what is below each, by date; a node that is only referred to is as old as its first child."""
    for root in roots:
        for node in _below(root) if root.children else ():
            if len(node.children) > 1:
                node.children.sort(key=_date_of)
    return sorted(roots, key=_date_of)


def _date_of(node: Node) -> tuple[int, int]:
    entry = node.entry
    if entry is None:
        entry = node.children[0].entry if node.children else None
    return _sent(entry) if entry is not None else (FIRST, 0)


def _newest(root: Node) -> tuple[int, int]:
    return max((node.entry.internal_date, node.entry.uid) for node in _below(root) if node.entry is not None)


# Writing


def render(roots: Sequence[Node], number: Callable[[Entry], int]) -> bytes:
    """`(2)(3 6 (4 23)(44 7 96))`: a chain in one pair of parentheses, branches each in their own."""
    out: list[str] = []
    for root in roots:
        stack: list[Node | str] = [root]
        out.append("(")
        start = True
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                out.append(node)
                start = node == "("
                continue
            if node.entry is not None:
                out.append(f"{number(node.entry)}" if start else f" {number(node.entry)}")
                start = False
            if len(node.children) == 1 and node.entry is not None:
                stack.append(node.children[0])
            elif node.children:
                if node.entry is not None:
                    out.append(" ")
                for child in reversed(node.children):
                    stack += [")", child, "("]
        out.append(")")
    return "".join(out).encode("ascii")
