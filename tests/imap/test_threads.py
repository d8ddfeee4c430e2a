"""Threading: the trees of RFC 5256, and that no mail makes it slow, deep or endless."""

import random
import time
from collections.abc import Callable, Sequence

import pytest

from bridge.imap.items.keys import Keys
from bridge.imap.ordering import Criterion, Entry, SortKey, in_order
from bridge.imap.threads import ALGORITHMS, render
from mailstore.model import Uid

MANY = 10_000
BOUND = 3.0  # seconds of processor time; it takes a tenth of that, and a quadratic one minutes


def mail(
    uid: int, message_id: str = "", references: Sequence[str] = (), subject: str = "", *, sent: int | None = None
) -> Entry:
    """`subject` with "re:" before it is that of a reply."""
    base = subject.removeprefix("re:")
    keys = Keys("", "", "", "", "", base != subject, message_id or f"<{uid}>", tuple(references))
    when = uid if sent is None else sent
    return Entry(Uid(uid), when, when, 1, base, keys)


def threads(algorithm: str, *entries: Entry) -> str:
    return render(ALGORITHMS[algorithm.encode()](entries), lambda entry: entry.uid).decode()


def test_one_subject_is_one_thread_below_its_oldest() -> None:
    """RFC 5256 section 3, ORDEREDSUBJECT: never more than two levels."""
    # req rfc5256/3-ordered-subject
    found = threads(
        "ORDEREDSUBJECT",
        mail(1, subject="a", sent=5),
        mail(2, subject="b", sent=1),
        mail(3, subject="re:a", sent=3),
        mail(4, subject="a"),
    )
    assert found == "(2)(3 (4)(1))"


def test_references_make_a_tree() -> None:
    # req rfc5256/3-references
    found = threads(
        "REFERENCES",
        mail(1, "<a>"),
        mail(2, "<b>", ["<a>"]),
        mail(3, "<c>", ["<a>", "<b>"]),
        mail(4, "<d>", ["<a>"]),
        mail(5, "<e>"),
    )
    assert found == "(1 (2 3)(4))(5)"


def test_a_missing_parent_binds_its_children() -> None:
    # req rfc5256/3-missing
    assert threads("REFERENCES", mail(1, "<a>", ["<gone>"]), mail(2, "<b>", ["<gone>"])) == "((1)(2))"
    assert threads("REFERENCES", mail(1, "<a>", ["<gone>"])) == "(1)"
    assert threads("REFS", mail(1, "<a>", ["<x>", "<gone>"]), mail(2, "<x>")) == "(2 1)"


def test_one_message_id_twice_is_two_messages() -> None:
    # req rfc5256/3-duplicates
    assert threads("REFERENCES", mail(1, "<a>"), mail(2, "<a>"), mail(3, "<b>", ["<a>"])) == "(1 3)(2)"


def test_loops_are_broken() -> None:
    # req rfc5256/3-loops
    ring = [mail(n, f"<{n}>", [f"<{n % 3 + 1}>"]) for n in (1, 2, 3)]
    found = threads("REFERENCES", *ring)
    assert sorted(char for char in found if char.isdigit()) == ["1", "2", "3"]
    assert threads("REFS", mail(1, "<1>", ["<1>"])) == "(1)"


def test_of_contradictions_the_first_counts() -> None:
    """The second message puts c above a; that c itself wants to be below b comes too late."""
    # req rfc5256/3-first-link
    entries = [mail(1, "<a>"), mail(2, "<b>", ["<c>", "<a>"]), mail(3, "<c>", ["<b>"])]
    assert threads("REFERENCES", *entries) == "(3 1 2)"
    assert threads("REFERENCES", *entries[1:]) == "(3 2)"


def test_a_message_moves_to_where_it_says_itself() -> None:
    """Another's References are cut short; step 1.B breaks the link they made."""
    # req rfc5256/3-own-parent
    assert (
        threads(
            "REFERENCES",
            mail(1, "<a>"),
            mail(2, "<x>", ["<a>", "<b>"]),
            mail(3, "<c>", ["<a>"]),
            mail(4, "<b>", ["<c>"]),
        )
        == "(1 3 4 2)"
    )


def test_roots_of_one_subject_are_put_together() -> None:
    """Step 5: a reply goes below the message it repeats, equals go side by side, an empty subject binds nothing."""
    # req rfc5256/3-subjects
    assert threads("REFERENCES", mail(1, subject="a"), mail(2, subject="re:a")) == "(1 2)"
    assert threads("REFERENCES", mail(1, subject="re:a"), mail(2, subject="a")) == "(2 1)"
    assert threads("REFERENCES", mail(1, subject="a"), mail(2, subject="a")) == "((1)(2))"
    assert threads("REFERENCES", mail(1, subject="a"), mail(2, subject="a"), mail(3, subject="re:a")) == "((1)(2)(3))"
    assert threads("REFERENCES", mail(1), mail(2)) == "(1)(2)"


def test_refs_leaves_subjects_alone_and_sorts_by_the_newest() -> None:
    found = threads(
        "REFS", mail(1, "<a>"), mail(2, "<b>", subject="x"), mail(3, "<c>", ["<a>"]), mail(4, subject="re:x")
    )
    assert found == "(2)(1 3)(4)"


def test_threads_are_told_by_the_date_they_were_sent() -> None:
    # req rfc5256/3-sent-date
    assert threads("REFERENCES", mail(1, sent=9), mail(2, sent=3), mail(3, "<c>", ["<2>"], sent=1)) == "(2 3)(1)"


@pytest.mark.parametrize("algorithm", ["ORDEREDSUBJECT", "REFERENCES", "REFS"])
@pytest.mark.parametrize("shape", ["chain", "reversed chain", "star", "one subject", "random", "ring"])
def test_ten_thousand_messages_of_any_shape_are_quick(algorithm: str, shape: str) -> None:
    pick = random.Random(1)
    shapes: dict[str, Callable[[int], list[str]]] = {
        "chain": lambda n: [f"<{n - 1}>"],
        "reversed chain": lambda n: [f"<{n + 1}>"],
        "star": lambda n: ["<1>"],
        "one subject": lambda n: [],
        "random": lambda n: [f"<{pick.randrange(MANY)}>" for _ in range(3)],
        "ring": lambda n: [f"<{n % MANY + 1}>"],
    }
    refers = shapes[shape]
    entries = [mail(n, f"<{n}>", refers(n), "re:x" if n % 2 else f"{n % 50}") for n in range(1, MANY + 1)]
    start = time.process_time()
    text = render(ALGORITHMS[algorithm.encode()](entries), lambda entry: entry.uid).decode()
    assert time.process_time() - start < BOUND
    numbers = [int(word) for word in text.replace("(", " ").replace(")", " ").split()]
    assert sorted(numbers) == list(range(1, MANY + 1))
    assert text.count("(") == text.count(")")


def test_sorting_by_several_keys_is_stable() -> None:
    # req rfc5256/3-sort
    # req rfc5256/2.2-ties
    size, sent = SortKey(b"SIZE", lambda entry: entry.subject), SortKey(b"DATE", lambda entry: entry.sent)
    entries = [
        mail(1, subject="b", sent=2),
        mail(2, subject="a", sent=2),
        mail(3, subject="b", sent=1),
        mail(4, subject="a", sent=2),
    ]
    assert in_order(entries, [Criterion(size), Criterion(sent)]) == [2, 4, 3, 1]
    assert in_order(entries, [Criterion(size, reverse=True), Criterion(sent)]) == [3, 1, 2, 4]
    assert in_order(entries, [Criterion(sent, reverse=True)]) == [1, 2, 4, 3]
