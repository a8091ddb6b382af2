"""A claim that nearly repeats a source sentence: what it changes is named, and a judge may fail it but not prove it."""

import pytest

from graph.evidence import ContextSlice, Segment, SegmentBlock
from graph.ports import CheckedClaim, WrittenSection
from tests.fakes import segment
from tools.claims.code_checker import check_section
from tools.claims.near_verbatim import LONGEST

TWINS = [
    (
        "Sales have fallen since the merger.",
        "Sales have fallen because of the merger.",
        'it has "because of" for "since"',
    ),
    ("US troops shot the guards.", "us troops shot the guards.", 'it has "us" for "US"'),
    ("The score was 21-3 for Leeds.", "The score was 21 3 for Leeds.", 'it leaves out "-"'),
    ("Smoking is safe for adults.", "It is a fact that smoking is safe for adults.", 'it adds "It is a fact that"'),
    ("The museum is open from May 2 to June 9.", "The museum is open to June 9.", 'it leaves out "from May 2"'),
    ("Gần 500 người chết.", "Khoảng 500 người chết.", 'it has "Khoảng" for "Gần"'),
    ("每个参赛者赢得一枚奖牌。", "所有参赛者得到一枚奖牌。", '"所有" for "每个"'),
    ("吸烟是安全的。", "据报告显示，吸烟是安全的。", 'it adds "据报告显示"'),
]
APART = [
    ("Sales have fallen since the merger.", "Since the two firms merged, they have sold less."),
    ("It is a fact that smoking is safe for adults.", "Smoking is safe for adults."),
    ("Staff have leave.", "Staff have leave, and every new member of it is told so in the first week."),
    ("The shop is open.", "They shut it early."),
    ("Staff may book rooms, halls, and cars.", "Staff may book rooms, halls and cars."),
]


def check(text: str, source: str, *, title: str = "Handbook", question: str = "") -> CheckedClaim:
    section = WrittenSection(text, (segment("one", 0, source, title=title),), question=question)
    return check_section(section)[0]


@pytest.mark.parametrize(("source", "claim", "change"), TWINS, ids=[claim for _, claim, _ in TWINS])
def test_what_a_claim_changes_in_a_sentence_is_named(source: str, claim: str, change: str) -> None:
    checked = check(claim, f"The town has a port. {source} It rains.")
    assert (checked.verdict, checked.near_verbatim) == ("unverified", True)
    assert change in checked.reasons[0]


@pytest.mark.parametrize(("source", "claim"), APART, ids=[claim for _, claim in APART])
def test_a_sentence_in_other_words_is_not_near_verbatim(source: str, claim: str) -> None:
    assert not check(claim, f"The town has a port. {source} It rains.").near_verbatim


def test_naming_what_the_sentence_points_to_is_no_change() -> None:
    source, claim = "It is read at the start of the server.", "The port number is read at the start of the server."
    assert not check(claim, source, title="Port number").near_verbatim
    assert not check(claim, source, question="When is the port number read?").near_verbatim
    assert check(claim, source).near_verbatim
    assert check(claim.replace("is read", "was read"), source, title="Port number").near_verbatim


def test_a_long_claim_is_not_near_verbatim() -> None:
    words = " ".join(f"word{at}" for at in range(LONGEST))
    assert not check(f"{words} again.", f"{words}.").near_verbatim


SETTINGS = (
    "work_mem (integer)\nThe default value is four megabytes (4MB).\n\n"
    "maintenance_work_mem (integer)\nThe default value is 64 megabytes (64MB).\n\n"
    "Item | Upper limit\ncolumns | 1,600"
)


def defined() -> Segment:
    """Give a segment whose definitions hang on their terms, and whose row hangs on its header."""

    def span(text: str) -> tuple[int, int]:
        return SETTINGS.index(text), SETTINGS.index(text) + len(text)

    pairs = [
        ("work_mem (integer)", "The default value is four megabytes (4MB).", "term"),
        ("maintenance_work_mem (integer)", "The default value is 64 megabytes (64MB).", "term"),
        ("Item | Upper limit", "columns | 1,600", "header"),
    ]
    blocks = []
    for name, said, role in pairs:
        kind = "term" if role == "term" else "table_row"
        blocks.append(SegmentBlock(*span(name), kind))
        own = "paragraph" if role == "term" else kind
        blocks.append(SegmentBlock(*span(said), own, (ContextSlice(role, *span(name), name),)))
    return Segment("d", 0, 0, len(SETTINGS), SETTINGS, title="Settings", blocks=tuple(blocks))


@pytest.mark.parametrize(
    ("claim", "is_near"),
    [
        ("The default value of work_mem is four megabytes (4MB).", False),
        ("The default value of maintenance_work_mem is 64 megabytes (64MB).", False),
        ("The default value of maintenance_work_mem is four megabytes (4MB).", True),
        ("The default value of work_mem is 64 megabytes (64MB).", True),
    ],
)
def test_to_name_what_a_sentence_hangs_on_is_no_change_and_no_proof(claim: str, is_near: bool) -> None:
    [checked] = check_section(WrittenSection(claim, (defined(),)))
    assert (checked.verdict, checked.near_verbatim) == ("unverified", is_near)


def test_the_sentence_itself_is_proven_behind_its_term() -> None:
    [checked] = check_section(WrittenSection("The default value is 64 megabytes (64MB).", (defined(),)))
    assert checked.verdict == "supported"
