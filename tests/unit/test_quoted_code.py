"""Code that a source holds line by line is a claim with the whole code as its quote; other code is none."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.dialects.citation_marks import bracket, marked_pieces
from api.dialects.section_buffer import FinalSection
from graph.evidence import Segment, SegmentBlock
from graph.ports import CheckedClaim, WrittenSection
from tests.fakes import check_section
from tests.wire.texts import citation, claim, source
from text.answer_markdown import units

CODE = "for host in hosts:\n    ping(host)\n\n    if lost:\n        page_someone()"
TEXT = f"To watch the hosts, run:\n\n{CODE}\n\nIt stops by itself."
LIST = "Run this:\n\n    make install\n    make check\n\nDone."


def structured(text: str = TEXT, code: str = CODE) -> Segment:
    start = text.index(code)
    ends = [0, start, start + len(code), len(text)]
    kinds = ("paragraph", "code", "paragraph")
    spans = pairwise(ends)
    blocks = [SegmentBlock(10 + a, 10 + b, kind) for (a, b), kind in zip(spans, kinds, strict=True) if a < b]
    return Segment("d", 0, 10, 10 + len(text), text, blocks=tuple(blocks))


def check(answer: str, of: Segment, **more: object) -> list[CheckedClaim]:
    return list(check_section(WrittenSection(answer, (of,), **more)))


def quotes(claims: list[CheckedClaim], of: Segment) -> list[str]:
    return [of.text[proof["start"] - of.start : proof["end"] - of.start] for each in claims for proof in each.proofs]


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{CODE}\n```",
        f"~~~\n{CODE}\n~~~",
        "```\n" + "".join(f"    {line}  \n" for line in CODE.split("\n")) + "```",
        "\n".join(f"    {line}" for line in CODE.split("\n")),
    ],
)
def test_code_of_a_source_is_proven_by_the_whole_of_it(answer: str) -> None:
    of = structured()
    [found] = check(answer, of)
    assert (found.verdict, quotes([found], of)) == ("supported", [CODE])
    assert answer[found.start : found.end].strip() == answer.strip()


def test_a_part_of_the_code_is_quoted_by_its_lines() -> None:
    of = structured()
    [found] = check("```\nif lost:\n    page_someone()\n```", of)
    assert quotes([found], of) == ["if lost:\n        page_someone()"]


@pytest.mark.parametrize(
    "code",
    [
        CODE.replace("host)", "hosts)"),
        CODE.replace("        page", "    page"),
        CODE + "\nexit()",
        "ping(host)\nif lost:",
        "page_someone",
        "It stops by itself.",
        "",
    ],
)
def test_other_code_is_no_claim(code: str) -> None:
    assert check(f"```\n{code}\n```", structured()) == []


def test_a_fence_that_is_not_closed_is_no_claim() -> None:
    assert check(f"```\n{CODE}", structured()) == []


def test_indented_code_of_a_text_without_structure_is_found() -> None:
    of = Segment("d", 0, 0, len(LIST), LIST)
    assert quotes(check("```\nmake install\nmake check\n```", of), of) == ["make install\n    make check"]


def test_code_waits_until_its_fence_is_closed_while_it_is_written() -> None:
    code = "make install\nmake check"
    of = structured(TEXT.replace(CODE, code), code)
    answer = f"```\n{code}\n```\n\nIt stops by itself. Really"
    assert check(f"```\n{code}\n", of, open=True) == []
    assert check(f"```\n{code}\n```", of, open=True) == []
    [quoted, said] = check(answer, of, open=True)
    assert (quoted.verdict, said.verdict) == ("supported", "supported")
    assert check(answer, of, open=True, start=quoted.end) == [said]


LINES = st.lists(st.sampled_from(["a = 1", "  b()", "", "\tc", "d  ", "```", "~~~~", "    e"]), max_size=6)


@given(LINES, LINES, st.sampled_from(["```", "~~~", "    "]))
def test_whatever_is_found_is_the_code_line_by_line(stored: list[str], written: list[str], fence: str) -> None:
    code = "\n".join(stored).strip("\n ")
    text = f"Run:\n\n{code or 'x'}\n\nDone."
    of = structured(text, code or "x")
    body = "\n".join(written)
    answer = body.replace("\n", "\n    ") if fence == "    " else f"{fence}\n{body}\n{fence}"
    for found in check(answer, of):
        if found.verdict == "supported" and len(found.proofs) == 1:
            [quote] = quotes([found], of)
            said = [line.strip() for line in found.text.split("\n") if line.strip(" \t`~")]
            assert [line.strip() for line in quote.split("\n") if line.strip(" \t`~")] == said


def marked(text: str) -> str:
    code = next(unit for unit in units(text) if unit.kind == "code")
    made = claim(text[: code.start], text[code.start : code.end], "supported", [citation(source(1), "supported", 0)])
    return "".join(marked_pieces(FinalSection(0, text, [], [made]), bracket))


def test_the_mark_of_code_stands_in_a_line_of_its_own_behind_the_fence() -> None:
    assert marked("```sh\nmake\n```") == "```sh\nmake\n```\n[1]"
    assert marked("Run:\n\n```sh\nmake\n```\n\nDone.") == "Run:\n\n```sh\nmake\n```\n[1]\n\nDone."
    assert marked("Run:\n```sh\nmake\n```\nDone.") == "Run:\n```sh\nmake\n```\n[1]\n\nDone."
    assert marked("- Run:\n\n  ```sh\n  make\n  ```\n- Wait.") == "- Run:[1]\n\n  ```sh\n  make\n  ```\n- Wait."
