"""What real renderers make of answers with marks: the same blocks as without, code untouched, marks in their places."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from api.dialects.annotated_text import AnnotatedText, SourceAddresses, by_index
from api.dialects.citation_marks import JOINER, marked_pieces
from api.dialects.section_buffer import FinalSection
from graph import events as told
from graph.events import AnyEvent, Envelope
from graph.evidence import Claim, Message, SectionClaim
from tests.api.reading import parse_frames
from tests.wire.node_clients import run_client
from tests.wire.runs import ASSESSED, MESSAGE_ID, SPENT, logged
from tests.wire.test_same_answer import stream
from tests.wire.texts import citation, source
from text.answer_markdown import whole_units

ANSWERS = {
    "code": (
        "Set the region first. Then run:\n\n"
        '```sh\naws configure set region x[1]\necho "done. Now"\n```\n\nIt prints done.'
    ),
    "table": (
        "The limits are:\n\n"
        "| Item | Approved by | Limit |\n|---|:-:|--:|\n| Hotel | Team lead | 200 euros |\n| Train `a\\|b` "
        "| Nobody | |\n| *Taxi* | [Desk](https://desk.example/) | 50 |\n\n"
        "Ask early."
    ),
    "bare table": (
        "Three plans exist.\nPlan | Price\n--- | ---\nFree | 0 euros\nTeam | 9 euros\n\nAll include support."
    ),
    "steps": (
        "**1. Configure the environment**\n\n"
        "1. **Open** the `settings. Page` now. Save it.\n   - Press *OK.*\n   - Wait\n2. **Deploy**: run "
        "`make`.\n\n"
        "   It takes a minute.\n3. Done"
    ),
    "tasks": ("## Before\n\n- [x] Back up the data\n- [ ] Tell everyone.\n\nAfter\n-----\n\n* * *\n\n+ Check the log!"),
    "emphasis": (
        "**Staff get 25 days. Managers** get _thirty_. ***All of it.*** ~~Not this.~~ See [the. Policy](/p.x) (soon)."
    ),
    "quote": ("> The guide says so\n> on page 3.\n>\n> > It is *final.*\n\n> [!NOTE]\n> Ask HR first.\n\nSo ask."),
    "lines": ("Name: Anna  \nRole: Lead\\\nOffice: Hue\n\n• First point\n• Second point"),
    "addresses": ("Read https://docs.example/a_b. Or www.docs.example/x, as told at <https://c.example>. See [1]."),
    "own marks": (
        "Leave lapses.[1] Ask HR [^2]: they know. Say `x[3]`.\n\n[^1]: Handbook\n[2]: https://h.example/p\n\nEnd [foo]"
    ),
    "html": (
        "Press <kbd>Ctrl. C</kbd> twice. It stops.<br>Then wait.\n\n<details><summary>More</summary>\n\n"
        "It ends here.\n\n</details>"
    ),
    "nested code": (
        '1. Install it:\n\n   ```py\n   a[1] = "b. C"\n   ```\n\n2. Run it.\n\n        x[2]. Y\n\nDone: see `a[1]`.'
    ),
    "chinese": (
        "员工每年有25天年假。经理有30天。\n\n"
        "| 项目 | 限额 |\n|---|---|\n| 酒店 | 200欧元 |\n\n1. **申请**：提前两周。\n2. 批准。"
    ),
    "vietnamese": (
        "Nhân viên có 25 ngày phép. Các bước:\n\n- **Nộp đơn**: trước 2 tuần.\n- Chờ duyệt\n\nBạn có cần thêm gì không?"
    ),
    "no claim": ("## Steps\n\n```\nmake\n```"),
    "open fence": ("Run this.\n\n```sh\nmake all. Then[1]"),
}
SAYS = {
    "docmost": lambda event, data: data["data"] if data["type"] == "chunk" else "",
    "docs_chatbot": lambda event, data: data["delta"] if data["type"] == "content" else "",
    "conversation": lambda event, data: data["content"] if data["type"] == "content" else "",
    "self_rag": lambda event, data: data["delta"] if event == "content" else "",
    "openai": lambda event, data: "".join(each["delta"].get("content") or "" for each in data["choices"]),
    "responses": lambda event, data: data["delta"] if data["type"] == "response.output_text.delta" else "",
    "ag_ui": lambda event, data: data["delta"] if data["type"] == "TEXT_MESSAGE_CONTENT" else "",
    "ai_sdk": lambda event, data: data["delta"] if data["type"] == "text-delta" else "",
}
MARK = re.compile(r"\[(?:\^|ref:)?(\d+)\]")


def cited(text: str) -> list[Claim]:
    """Give the claims of an answer, each citing a source of its own."""
    spans = [claim for unit in whole_units(text) for claim in unit.claims]
    return [
        Claim(
            start=start,
            end=end,
            text=text[start:end],
            verdict="supported",
            reasons=[],
            citations=[citation(source(index), "supported", 0)],
        )
        for index, (start, end) in enumerate(spans, start=1)
    ]


def log_of(text: str, claims: Sequence[Claim]) -> list[Envelope]:
    """Tell a run that writes one section, each claim checked as soon as it is written."""
    sources = [source(index) for index in range(1, len(claims) + 1)]
    ids = [each["segment_id"] for each in sources]
    caps = told.BudgetCaps(model_calls=8, tokens=None, seconds=120.0)
    message = Message(
        answer=text,
        sections=[{"text": text, "source_ids": ids}],
        citations=[one for each in claims for one in each["citations"]],
        sources=sources,
        family="llm",
        claims=[SectionClaim(**each, section_index=0) for each in claims],
    )
    written: list[AnyEvent] = [told.SectionStarted(section_index=0)]
    done = 0
    for each in claims:
        written.append(told.TextDelta(section_index=0, delta=text[done : each["end"]]))
        written.append(told.ClaimChecked(section_index=0, claim=each))
        done = each["end"]
    if text[done:]:
        written.append(told.TextDelta(section_index=0, delta=text[done:]))
    return logged(
        [
            told.RunStarted(question="Why?", message_id=MESSAGE_ID, family="llm", model="scripted", budget=caps),
            told.RetrievalDecided(needs_retrieval=True, reason="", standalone_question="Why?", intent="content_query"),
            told.StepStarted(step="generate_answer"),
            told.SourcesGraded(sources=sources, dropped=[]),
            *written,
            told.SectionFinished(section_index=0, text=text, source_ids=ids),
            told.SectionChecked(section_index=0, claims=list(claims)),
            ASSESSED,
            told.RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent=SPENT),
        ]
    )


def shown(dialect: str, log: Sequence[Envelope]) -> str:
    """Give the text that a dialect sends."""
    frames = [frame for frame in parse_frames(b"".join(stream(dialect, log)).decode()) if frame["data"] != "[DONE]"]
    return "".join(SAYS[dialect](frame.get("event"), json.loads(frame["data"])) for frame in frames)


def disarmed(text: str) -> str:
    """Give an answer as it is sent without a claim: what looks like a mark is none."""
    return "".join(marked_pieces(FinalSection(0, text, [], []), str))


class Rendered(HTMLParser):
    """The tags of a page in order, its text, and the code in it; links of marks left out."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.prose = ""  # without what only looks like a mark in code
        self.code: list[str] = []
        self.rows: list[list[str]] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self._in_code = 0
        self._in_mark = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        link = dict(attrs).get("href") or ""
        self._in_mark = tag == "a" and "/documents/" in link
        if not self._in_mark:
            self.tags.append(f"<{tag} {link}>")
        if tag == "code":
            self.code.append("")
            self._in_code += 1
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "li":
            self.items.append("")
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not (tag == "a" and self._in_mark):
            self.tags.append(f"</{tag}>")
        self._in_code -= tag == "code"
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_code:
            self.code[-1] += data
        self.prose += data.replace("[", "") if self._in_code else data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        if "li" in self._open:
            self.items[-1] += data


def words(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum())


async def render(folder: Path, texts: Sequence[str]) -> dict[str, list[Rendered]]:
    file = folder / "texts.json"
    file.write_text(json.dumps(list(texts)), encoding="utf-8")
    html: dict[str, list[str]] = await run_client("render.mjs", str(file), client="renderers of Markdown")
    return {name: [Rendered(each) for each in pages] for name, pages in html.items()}


Pages = Mapping[str, Mapping[str, Sequence[Rendered]]]  # by renderer and dialect, and BARE: without marks
BARE = "bare"


async def render_all(folder: Path, answers: Mapping[str, str], claims_of: Callable[[str], list[Claim]]) -> Pages:
    """Render answers as each dialect sends them with these claims, by one process of the renderers."""
    sent = {dialect: [shown(dialect, log_of(text, claims_of(text))) for text in answers.values()] for dialect in SAYS}
    sent[BARE] = [disarmed(text) for text in answers.values()]
    rendered = await render(folder, [text for texts in sent.values() for text in texts])
    return {
        renderer: {name: pages[at * len(answers) : (at + 1) * len(answers)] for at, name in enumerate(sent)}
        for renderer, pages in rendered.items()
    }


@pytest.fixture(scope="module")
async def answers_rendered(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return await render_all(tmp_path_factory.mktemp("answers"), ANSWERS, cited)


@pytest.fixture(scope="module")
async def quoted_code_rendered(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return await render_all(tmp_path_factory.mktemp("quoted-code"), QUOTED_CODE, cited_with_code)


@pytest.mark.parametrize("dialect", SAYS)
async def test_an_answer_renders_with_its_marks_as_without_them(dialect: str, answers_rendered: Pages) -> None:
    claims = {name: cited(text) for name, text in ANSWERS.items()}
    for renderer, pages in answers_rendered.items():
        for name, marked, bare in zip(ANSWERS, pages[dialect], pages[BARE], strict=True):
            about = (renderer, name)
            assert marked.tags == bare.tags, about
            assert words(MARK.sub("", marked.text)) == words(MARK.sub("", bare.text)), about
            assert marked.code == bare.code, about
            assert not any(JOINER in code for code in marked.code), about
            for number, claim in enumerate(claims[name], start=1):
                before = words(MARK.sub("", re.split(rf"\[(?:\^|ref:)?{number}\]", marked.prose)[0]))
                assert before.endswith(words(_visible(claim["text"]))[-4:]), (*about, claim["text"])


def _visible(text: str) -> str:
    return re.sub(r"\]\([^)]*\)|\]\[[^\]]*\]|<[^>:]*>", "", text)


async def test_marks_that_are_links_leave_the_answer_as_it_is(tmp_path: Path) -> None:
    sent = []
    for text in ANSWERS.values():
        annotated = AnnotatedText(SourceAddresses("https://citewell.example"), by_index, links=True)
        sent.append("".join(annotated.write(FinalSection(0, text, [], cited(text)))))
    plain = [disarmed(text) for text in ANSWERS.values()]
    for renderer, pages in (await render(tmp_path, [*sent, *plain])).items():
        for name, marked, bare in zip(ANSWERS, pages, pages[len(ANSWERS) :], strict=False):
            assert (marked.tags, marked.code) == (bare.tags, bare.code), (renderer, name)
            assert words(MARK.sub("", marked.text)) == words(MARK.sub("", bare.text)), (renderer, name)


async def test_footnotes_of_the_model_are_shown_as_text(tmp_path: Path) -> None:
    for [page] in (await render(tmp_path, [disarmed(ANSWERS["own marks"])])).values():
        assert words("Leave lapses.[1] Ask HR [^2]: they know.") in words(page.text)
        assert "Handbook" in page.text


def test_every_kind_of_unit_is_rendered() -> None:
    kinds: set[str] = {unit.kind for text in ANSWERS.values() for unit in whole_units(text)}
    assert kinds == {"prose", "row", "heading", "header", "code", "rule"}


async def test_marks_stand_in_the_rows_and_items_that_they_belong_to(tmp_path: Path) -> None:
    sent = [shown("docmost", log_of(ANSWERS[name], cited(ANSWERS[name]))) for name in ("table", "steps", "code")]
    for table, steps, code in (await render(tmp_path, sent)).values():
        assert table.rows == [
            ["Item", "Approved by", "Limit"],
            ["Hotel", "Team lead", "200 euros[^1]"],
            ["Train a|b", "Nobody[^2]", ""],
            ["Taxi", "Desk", "50[^3]"],
        ]
        items = [" ".join(item.split()) for item in steps.items]
        assert items == [
            "Open the settings. Page now.[^1] Save it.[^2]",
            "Press OK.[^3]",
            "Wait[^4]",
            "Deploy: run make.[^5] It takes a minute.[^6]",
            "Done[^7]",
        ]
        assert code.code == ['aws configure set region x[1]\necho "done. Now"\n']


QUOTED_CODE = {
    "alone": "```sh\nmake x[1]\n```",
    "between": "Run this:\n\n```sh\nmake\n```\n\nThen wait. It ends.",
    "close": "Run this:\n~~~\nmake\n~~~\nThen wait.",
    "before a table": "```\nmake\n```\n| a | b |\n|---|---|\n| 1 | 2 |",
    "before a list": "````\n```\n````\n- One.\n- Two.",
    "before a heading": "```\nmake\n```\n# Next\n\nIt ends.",
    "before code": "```\nmake\n```\n```\ntest\n```",
    "in a list": "1. Make it.\n\n   ```\n   make\n   ```\n\n2. Wait.",
    "indented": "Run this.\n\n    make\n    test\n\nDone.",
}


def cited_with_code(text: str) -> list[Claim]:
    """Give the claims of an answer and its blocks of code, each citing a source of its own."""
    spans = [
        each for unit in whole_units(text) for each in unit.claims or [(unit.start, unit.end)][unit.kind != "code" :]
    ]
    return [
        Claim(
            start=start,
            end=end,
            text=text[start:end],
            verdict="supported",
            by="text",
            reasons=[],
            citations=[citation(source(index), "supported", 0)],
        )
        for index, (start, end) in enumerate(spans, start=1)
    ]


@pytest.mark.parametrize("dialect", SAYS)
async def test_marks_of_quoted_code_stand_behind_it_and_change_no_other_block(
    dialect: str, quoted_code_rendered: Pages
) -> None:
    for renderer, pages in quoted_code_rendered.items():
        for name, marked, bare in zip(QUOTED_CODE, pages[dialect], pages[BARE], strict=True):
            about = (renderer, name)
            paragraphs = ("<p >", "</p>")
            assert [tag for tag in marked.tags if tag not in paragraphs] == [
                tag for tag in bare.tags if tag not in paragraphs
            ], about
            assert marked.code == bare.code, about
            assert words(MARK.sub("", marked.text)) == words(MARK.sub("", bare.text)), about
            assert [int(number) for number in MARK.findall(marked.prose)] == list(
                range(1, 1 + len(cited_with_code(QUOTED_CODE[name])))
            ), about


PASSAGES = {
    "paragraphs": "Staff get 25 days. Managers get 30.\n\nUnused leave lapses in March.",
    "table": "The limits are:\n\n| Item | Limit |\n| --- | --- |\n| Hotel | 200 |\n| Train a\\|b |  |",
    "header alone": "| Item | Limit |\n| --- | --- |",
    "list": "Not allowed:\n\n- Smoking on the balcony\n- Dogs\n  - Big ones\n  - Small ones",
    "steps": "To deploy:\n\n1. Open the settings.\n2. Press *OK*.\n\n   It takes a minute.",
    "code": "Run this:\n\n```\nmake x[1]\n\nmake y | z\n```",
    "code within": "Run this:\n\n````\n```\n````\n\nThen wait",
    "quote": "> The guide says so\n> on page 3.",
    "question": "**How many days?**\n\nAnna: 25, see [the policy](https://h.example/p)",
    "address": "Ask at https://desk.example/leave",
    "own marks": "Leave lapses.[1] Ask HR [^2]: they know. Say `x[3]`",
    "chinese": "滤芯：\n\n| 项目 | 限额 |\n| --- | --- |\n| 酒店 | 200欧元 |",
    "heading": "Office hours\n\n# Not a heading of ours",
    "indented": "Run\n\n    make\n    test",
    "rule": "It ends here.\n\n---",
}


def quoted(text: str) -> list[Claim]:
    """Give the claim of a section that shows a passage: all of it, with one citation."""
    proven = citation(source(1), "supported", 0)
    return [
        Claim(start=0, end=len(text), text=text, verdict="supported", by="text", reasons=[], citations=[proven]),
    ]


@pytest.fixture(scope="module")
async def passages_rendered(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return await render_all(tmp_path_factory.mktemp("passages"), PASSAGES, quoted)


@pytest.mark.parametrize("dialect", SAYS)
async def test_a_passage_has_one_mark_at_its_end_and_stays_what_it_is(dialect: str, passages_rendered: Pages) -> None:
    for renderer, pages in passages_rendered.items():
        for name, marked, bare in zip(PASSAGES, pages[dialect], pages[BARE], strict=True):
            about = (renderer, name)
            apart = ("<p >", "</p>") if "code" in name or name == "indented" else ()
            assert [tag for tag in marked.tags if tag not in apart] == [tag for tag in bare.tags if tag not in apart], (
                about
            )
            assert marked.code == bare.code, about
            assert MARK.findall(marked.prose) == ["1"], about
            assert words(MARK.sub("", marked.text)) == words(MARK.sub("", bare.text)), about


@pytest.mark.parametrize("dialect", SAYS)
@pytest.mark.parametrize("name", PASSAGES)
def test_a_passage_leaves_as_whole_markdown(dialect: str, name: str) -> None:
    told_of_a_quote = [
        each for each in log_of(PASSAGES[name], quoted(PASSAGES[name])) if not isinstance(each.event, told.ClaimChecked)
    ]
    sent = [
        SAYS[dialect](frame.get("event"), json.loads(frame["data"]))
        for frame in parse_frames(b"".join(stream(dialect, told_of_a_quote)).decode())
        if frame["data"] != "[DONE]"
    ]
    assert len([each for each in sent if each]) <= 1 + (name == "indented")  # no mark can stand behind its code
