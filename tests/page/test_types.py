"""The page's types of what travels are made from the API's own description, and are those of today."""

import re

from api.static_files import PAGE_FOLDER, read_page
from tests.page.wire_types import WIRE_TYPES, wire_types

TYPE = re.compile(r"^export type (\w+) =(.*?);\n(?:\n|\Z)", re.MULTILINE | re.DOTALL)


def test_the_types_of_the_wire_are_those_of_the_description() -> None:
    assert WIRE_TYPES.read_text("utf-8") == wire_types(), "`make page` writes them anew"


def test_types_are_not_served() -> None:
    for folder in (PAGE_FOLDER, PAGE_FOLDER.with_name("page_bundle")):
        assert [path for path in read_page(folder).files if path.endswith(".ts")] == []


def test_what_may_be_missing_is_what_the_description_says() -> None:
    types = dict(TYPE.findall(WIRE_TYPES.read_text("utf-8")))
    assert "  question?: string;" in types["NewRun"], "what is sent may leave out what has a default"
    assert "  pinned: boolean;" in types["Session"], "what is told has it always"
    assert "  anchor?: string;" in types["Citation"], "or only where there is one"
