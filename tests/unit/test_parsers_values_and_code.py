"""Values with their paths, and source code in blocks: what is kept as it is written, and what hangs on what."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.hanging_blocks import hanging
from tests.contract.parser_kit import check_parsed
from tools.parsers import Parsed, parse
from tools.parsers.canonical_text import shown
from tools.parsers.value_rows import path_text


def read(text: str, name: str) -> Parsed:
    return parse(text.encode(), name=name)


def rows(text: str, name: str = "x.json") -> list[str]:
    return [words for _, words, _ in hanging(read(text, name))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": {"b": [1.50, -0, 1e3]}}', ["a", "a.b[0]: 1.50", "a.b[1]: -0", "a.b[2]: 1e3"]),
        ('{"a.b": "", "c d": null, "": true}', ['["a.b"]: ""', '["c d"]: null', '[""]: true']),
        ('{"a": 1, "a": 2}', ["a: 1", "a: 2"]),
        ('{"a": [], "b": {}, "c": [[]]}', ["a: []", "b: {}", "c", "c[0]: []"]),
        ('"word"', ["word"]),
        ("[7]", ["[0]: 7"]),
        ("NaN", ["NaN"]),
    ],
)
def test_values_of_json(text: str, told: list[str]) -> None:
    assert rows(text) == told


@pytest.mark.parametrize(("title", "found"), [(" Ports  of it ", "Ports of it"), (" ", None)])
def test_the_title_of_values_is_theirs_and_no_name_of_a_section(title: str, found: str | None) -> None:
    assert read(json.dumps({"title": title, "server": {"port": 80}}), "x.json").title == found


def test_values_of_json_lines() -> None:
    assert rows('{"a": 1}\n\n[2]\r\n', "x.jsonl") == ["[0].a: 1", "[1][0]: 2"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: yes\nb: 010\nc: 2026-01-02\nd:\n", ["a: yes", "b: 010", "c: 2026-01-02", "d: null"]),
        ("- a\n- - b\n  - c: 'd # e' # f\n", ["[0]: a", "[1][0]: b", "f", "[1][1].c: d # e"]),
        ("? {a: b}\n: c\n", ["?: c"]),
        ("a: !tag x\nb: !!binary aGk=\n", ["a: x", "b: aGk="]),
    ],
)
def test_values_of_yaml_are_kept_as_they_are_written(text: str, told: list[str]) -> None:
    assert rows(text, "x.yaml") == told


def test_a_row_hangs_on_the_value_that_names_what_it_belongs_to() -> None:
    text = '{"users": [{"email": "a@b", "age": 3}], "team": {"size": 2, "name": "x", "lead": {"age": 4}}}'
    assert [(words, above) for _, words, above in hanging(read(text, "x.json"))] == [
        ("users", []),
        ("users[0].email: a@b", []),
        ("users[0].age: 3", ["users[0].email: a@b"]),
        ("team", []),
        ("team.size: 2", []),
        ("team.name: x", []),
        ("team.lead.age: 4", ["team.name: x"]),
    ]


KEYS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text("abc.[ é", max_size=5), VALUES, min_size=1, max_size=4))
def test_every_value_is_found_below_its_path(value: dict[str, Any]) -> None:
    parsed = read(json.dumps(value), "x.json")
    check_parsed(parsed)
    for path, leaf in leaves((), value):
        if isinstance(leaf, int) and not isinstance(leaf, bool):
            assert shown(f"{path_text(path)}: {leaf}".strip()) in parsed.text


def leaves(path: tuple[str | int, ...], value: Any) -> list[tuple[tuple[str | int, ...], Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inside = [leaf for name, inner in pairs for leaf in leaves((*path, name), inner)]
    return inside or [(path, value)]


SUFFIXES = ["py", "js", "ts", "java", "c", "go", "rs", "rb", "php", "sh", "sql", "toml", "xml", "css"]
LINES = st.sampled_from(
    [
        "def f(a):",
        "    class B:",
        "func g() {",
        "}",
        "  ) {",
        "// c",
        "# d",
        '"""',
        "/*",
        "*/",
        "[s]",
        "",
        "\t x = 1;",
        "-- e",
    ]
) | st.text("ab{}()/*#\"' \t\r\f\x0b\u2028", max_size=12)


@given(st.lists(LINES, min_size=1, max_size=25), st.sampled_from(SUFFIXES))
def test_source_code_is_its_own_canonical_text(lines: list[str], suffix: str) -> None:
    text = "\n".join([*lines, "end"])
    parsed = read(text, f"x.{suffix}")
    check_parsed(parsed)
    assert parsed.text == text


@pytest.mark.parametrize(
    ("name", "line", "named"),
    [
        ("x.java", "public static int total(List<Lamp> lamps) {", "total"),
        ("x.kt", "data class Lamp(val on: Boolean)", "Lamp"),
        ("x.cs", "public async Task<int> CountAsync(int n)", "CountAsync"),
        ("x.js", "const keep = async (lamp) => {", "keep"),
        ("x.js", "export default class Lamp extends Thing {", "Lamp"),
        ("x.cpp", "void Lamp::turn(bool on) {", "turn"),
        ("x.h", "#define MAX(a, b) ((a) > (b) ? (a) : (b))", "MAX"),
        ("x.go", "func (l *Lamp) Switch(on bool) {", "Switch"),
        ("x.rs", "pub(crate) async fn keep() {", "keep"),
        ("x.rs", "impl Drop for Lamp {", "Drop for Lamp"),
        ("x.rb", "def self.on?", "self.on?"),
        ("x.php", "public function keep($lamp) {", "keep"),
        ("x.sh", "keep() {", "keep"),
        ("x.sql", "CREATE OR REPLACE FUNCTION house.keep(a int)", "house.keep"),
        ("x.ini", "[lamps of the house]", "lamps of the house"),
    ],
)
def test_a_line_that_defines_is_a_term(name: str, line: str, named: str) -> None:
    [first, *_] = read(f"{line}\n    body\n", name).blocks
    assert (first.kind, first.heading.strip()) == ("term", named)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("x.js", "if (a) {"),
        ("x.java", "return keep(lamp);"),
        ("x.java", "for (int i = 0; i < 3; i++) {"),
        ("x.c", "while (next(lamp))"),
        ("x.py", "x = define(a)"),
        ("x.go", "if f(x) {"),
    ],
)
def test_a_line_that_only_looks_like_it_is_code(name: str, line: str) -> None:
    assert [block.kind for block in read(f"{line}\n    body\n", name).blocks] == ["code"]
