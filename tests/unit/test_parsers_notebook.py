"""Notebooks of any shape: old formats, outputs of many kinds, and JSON that only looks like a notebook."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tests.contract.parser_kit import check_parsed
from tools.parsers import Parsed, parse


def read(value: Any) -> Parsed:
    return parse(json.dumps(value).encode(), name="x.ipynb")


def code(*outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cells": [{"cell_type": "code", "source": "run()", "outputs": list(outputs)}]}


def test_outputs_of_each_kind() -> None:
    parsed = read(
        code(
            {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
            {"output_type": "stream", "name": "stderr", "text": "\x1b[31mthree\x1b[0m\n"},
            {"output_type": "execute_result", "data": {"text/plain": "4", "text/html": "<b>4</b>"}},
            {"output_type": "display_data", "data": {"text/plain": "<Figure>", "image/png": "aaaa"}},
            {"output_type": "display_data", "data": {"application/vnd.widget+json": {}}},
            {"output_type": "error", "ename": "ValueError", "evalue": "no lamp", "traceback": ["long"]},
        )
    )
    assert hanging(parsed) == [
        ("code", "run()", []),
        ("code", "one\ntwo\nthree", ["run()"]),
        ("code", "4", ["run()"]),
        ("code", "ValueError: no lamp", ["run()"]),
    ]
    assert [" ".join(said.split()[:2]) for said in parsed.left_out] == ["1 image", "1 output"]


def test_the_third_format() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Lamps"},
        {"cell_type": "heading", "level": "x", "source": ["Keys"]},
        {"cell_type": "code", "input": ["a\n", "b"], "outputs": [{"output_type": "pyout", "text": ["c"]}]},
    ]
    assert [(kind, words) for kind, words, _ in hanging(read({"worksheets": [{"cells": cells}]}))] == [
        ("heading", "Lamps"),
        ("heading", "Keys"),
        ("code", "a\nb"),
        ("code", "c"),
    ]


def test_the_title_of_its_metadata() -> None:
    assert read(code() | {"metadata": {"title": "Lamps"}}).title == "Lamps"


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
OUTPUT = st.fixed_dictionaries(
    {},
    optional={
        "output_type": st.sampled_from(["stream", "error", "pyerr", "display_data"]) | ANY,
        "data": st.dictionaries(st.sampled_from(["text/plain", "image/png", "x"]), ANY) | ANY,
        "text": ANY,
        "ename": ANY,
        "evalue": ANY,
    },
)
CELL = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "heading", "raw"]) | ANY},
    optional={
        "source": st.lists(st.text(max_size=6), max_size=3) | ANY,
        "outputs": st.lists(OUTPUT | ANY, max_size=3) | ANY,
        "attachments": ANY,
        "level": ANY,
    },
)


@given(st.lists(CELL | ANY, max_size=4) | ANY, ANY)
def test_any_notebook(cells: Any, metadata: Any) -> None:
    try:
        check_parsed(read({"cells": cells, "metadata": metadata, "worksheets": metadata}))
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017
