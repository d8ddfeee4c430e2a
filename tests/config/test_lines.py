"""The line of every key is found however the TOML is written."""

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from config.source import Leaf, Origin, from_words, line_numbers, merge, origins, read_toml

TEXT = '''# comment with [brackets] and = signs
top = "a # not a comment"
multi = """
[not.a.table]
x = 1
"""
list = [
  "a",  # ]
  "b",
]
literal = 'C:\\path'
dotted.key = 1

[table]
"quoted key" = 1
inline = { a = 1, b = [1, 2] }
other = \'\'\'
y = 2\'\'\'
last = 3

[[rows]]
name = 1
'''


def test_keys_and_tables_are_found_past_strings_lists_and_comments() -> None:
    tomllib.loads(TEXT)
    assert line_numbers(TEXT) == {
        ("top",): 2,
        ("multi",): 3,
        ("list",): 7,
        ("literal",): 11,
        ("dotted", "key"): 12,
        ("table",): 14,
        ("table", "quoted key"): 15,
        ("table", "inline"): 16,
        ("table", "other"): 17,
        ("table", "last"): 19,
        ("rows",): 21,
        ("rows", "name"): 22,
    }


def test_a_key_of_an_inline_table_has_the_line_of_the_table(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("\n\na = { b = { c = 1 } }\n")
    tree, faults = read_toml(file)
    assert faults == []
    assert dict(origins(tree))["a.b.c"] == Origin(str(file), 3)


@given(st.text(alphabet="ab=[]{}\"'#\\\n. ", max_size=60))
def test_any_text_is_walked_to_its_end(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for line in line_numbers(text).values())


def test_the_upper_tree_wins_value_by_value() -> None:
    file, flag = Origin("f", 1), Origin("flag x")
    lower = from_words({"a.b": 1, "a.c": 2}, {"a.b": file, "a.c": file})
    upper = from_words({"a.c": 3, "d": 4}, {"a.c": flag, "d": flag})
    merged = merge(lower, upper)
    assert merged == {"a": {"b": Leaf(1, file), "c": Leaf(3, flag)}, "d": Leaf(4, flag)}
