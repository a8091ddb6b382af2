"""Claims made by rule are false or true as they say, and the checker's verdicts on a set are counted by hand."""

import json
import re
from pathlib import Path

import pytest

from graph.errors import InvalidRequest
from graph.evidence import Segment, Verdict
from graph.ports import CheckedClaim, CheckResult, WrittenSection
from graph.usage import Meter
from research.claims import chosen_cases, made_cases, run_claims, verdict_of
from research.mutations.claim_making import (
    LANGUAGES,
    RELATION,
    ClaimCase,
    Paragraph,
    load_cases,
    make_cases,
    write_cases,
)
from tools.settings import Settings

TEXTS = {
    "en": [
        "The Harlow Museum was founded by Edith Crane in 1911. It holds 4,250 paintings, more than any museum in "
        "Norland. "
        "In 1934 the museum moved from Elm Street to Castle Hill, which is 3 kilometres away. "
        "The director, Tom Ashdown, did not accept the gift of 2 million dollars. Was it too large?",
        "The Vessel Mill in Torburg was built before the bridge by Anna Sorel. "
        "Most of its wheels were sold in May 1950.",
    ],
    "zh": [
        "哈洛博物馆由艾迪丝·克莱恩于1911年创建，位于法国。博物馆藏有4250幅画，超过了德国的所有博物馆。"
        "1934年，博物馆从老城迁到了3公里以外的山上。馆长汤姆·阿什顿没有接受200万美元的捐款。它太大了吗？",
        "维塞尔磨坊位于托尔堡，是由安娜·索雷尔在大桥之前建成的。大多数轮子在1950年5月被卖掉了。",
    ],
    "vi": [
        "Bảo tàng Harlow được Edith Crane thành lập vào năm 1911 tại thành phố Torburg. Bảo tàng có 4.250 bức tranh và "
        "là một trong những bảo tàng lớn nhất của Norland. "
        "Năm 1934, bảo tàng chuyển từ Elmstadt đến Castelle, cách đó 3 km. "
        "Giám đốc Tom Ashdown không chấp nhận món quà 2 triệu đô la của Norland. Nó có quá lớn không?",
        "Cối xay Vessel ở Arbora được Anna Sorel xây dựng trước cây cầu. "
        "Hầu hết các bánh xe đã được bán vào tháng 5 năm 1950.",
    ],
}


def made(language: str) -> list[ClaimCase]:
    pages = [Paragraph(text, f"page {number}") for number, text in enumerate(TEXTS[language])]
    return make_cases(pages, next(known for known in LANGUAGES if known.code == language))


@pytest.mark.parametrize("language", TEXTS)
def test_a_set_is_the_same_each_time_it_is_made(language: str) -> None:
    assert made(language) == made(language)
    assert {case.lang for case in made(language)} == {language}


@pytest.mark.parametrize("language", TEXTS)
def test_every_kind_of_falsehood_is_made(language: str) -> None:
    kinds = {case.kind for case in made(language) if not case.supported}
    assert kinds >= {"number", "scale", "unit", "date", "negation", "quantifier", "name", "name_same_paragraph"}


@pytest.mark.parametrize("language", TEXTS)
def test_verbatim_claims_are_whole_sentences_and_no_question(language: str) -> None:
    verbatim = [case for case in made(language) if case.kind == "verbatim"]
    assert len(verbatim) == len({case.claim for case in verbatim}) >= 5
    for case in verbatim:
        assert case.supported
        assert case.claim in case.evidence
        assert case.claim[-1] in ".。"


@pytest.mark.parametrize("language", TEXTS)
def test_a_false_claim_stands_nowhere_in_its_evidence(language: str) -> None:
    bare = re.compile(r"\W+")
    for case in made(language):
        if not case.supported:
            assert bare.sub("", case.claim) not in bare.sub("", case.evidence)


@pytest.mark.parametrize("language", TEXTS)
def test_paraphrases_keep_the_words_that_matter(language: str) -> None:
    paraphrases = [case for case in made(language) if case.supported and case.kind != "verbatim"]
    assert {case.kind for case in paraphrases} >= {"frame", "date_notation"}
    for case in paraphrases:
        assert case.claim not in case.evidence or case.kind in ("article", "particle")


def test_a_name_from_another_page_is_not_in_the_evidence() -> None:
    foreign = [case for case in made("en") if case.kind == "name"]
    assert any("Anna Sorel" in case.claim or "Torburg" in case.claim for case in foreign)
    for case in foreign:
        assert case.claim.split() != case.evidence.split()


def test_a_wrong_relation_is_made_of_the_right_words() -> None:
    relations = [case for case in made("en") if case.kind == RELATION]
    assert relations
    for case in relations:
        assert set(re.findall(r"\w+", case.claim)) <= set(re.findall(r"\w+", case.evidence))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: not a JSON object"),
        (
            '{"evidence": "A.", "claim": "A.", "lang": "en", "kind": "number"}',
            "line 2: the field 'supported' is missing",
        ),
        (
            '{"evidence": "A.", "claim": "A.", "lang": "en", "kind": "number", "supported": "no"}',
            "line 2: the field 'supported' must be true or false",
        ),
        ('{"evidence": "A.", "claim": 3, "lang": "en", "kind": "x", "supported": true}', "'claim' must be text"),
        ('{"evidence": "A.", "claim": " ", "lang": "en", "kind": "x", "supported": true}', "'claim' is empty"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_field(tmp_path: Path, line: str, told: str) -> None:
    good = '{"evidence": "A.", "claim": "A.", "lang": "en", "kind": "verbatim", "supported": true}'
    path = tmp_path / "claims.jsonl"
    path.write_text(f"{good}\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidRequest, match=told):
        load_cases(path)


@pytest.mark.parametrize(("content", "told"), [(b"", "holds no claim"), (b"\xff\xfe", "not UTF-8")])
def test_a_file_without_claims_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidRequest, match=told):
        load_cases(path)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_cases(tmp_path / "gone.jsonl")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    cases = [ClaimCase("A line\u2028of evidence.", "Một câu.", "vi", "number", False)]
    write_cases(tmp_path / "new" / "claims.jsonl", cases)
    assert load_cases(tmp_path / "new" / "claims.jsonl") == cases
    with pytest.raises(InvalidRequest, match="--write"):
        write_cases(tmp_path, cases)


def test_a_data_folder_that_is_missing_is_told_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="--data"):
        made_cases(tmp_path)


def test_a_set_comes_from_a_file_or_a_folder_not_both(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="--path or --data, not both"):
        chosen_cases(path=tmp_path / "claims.jsonl", data=tmp_path)


def test_a_set_is_made_of_the_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "xquad").mkdir()
    for language, texts in TEXTS.items():
        data = [{"title": f"page {n}", "paragraphs": [{"context": text, "qas": []}]} for n, text in enumerate(texts)]
        (tmp_path / "xquad" / f"{language}.json").write_text(json.dumps({"data": data}), encoding="utf-8")
    assert chosen_cases(path=None, data=tmp_path) == [case for language in TEXTS for case in made(language)]


async def test_a_set_is_counted_by_language_and_kind(settings: Settings) -> None:
    evidence = "The Cedar Bridge was finished in 1911. It carries two lanes."
    cases = [
        ClaimCase(evidence, "The Cedar Bridge was finished in 1911.", "en", "verbatim", True),
        ClaimCase(evidence, "Whales sing beneath distant polar ice. Comets return.", "en", "number", False),
        ClaimCase(evidence, "It carries two lanes.", "en", "number", False),
        ClaimCase(evidence, "Nobody buys turnips during carnival.", "en", "frame", True),
        ClaimCase(evidence, "It carries two lanes.", "en", RELATION, False),
        ClaimCase(evidence, "It carries two lanes.", "en", "quantifier_fresh", False),
        ClaimCase("河上有一座桥。", "河上有一座桥。", "zh", "verbatim", True),
    ]
    told: list[tuple[int, int]] = []
    report = await run_claims(settings, cases, progress=lambda done, of: told.append((done, of)))
    english = report["languages"]["en"]
    assert (english["n"], english["n_mutants"], english["n_verbatim"], english["n_paraphrases"]) == (6, 2, 1, 1)
    assert english["caught"] == 0.5
    assert english["caught_fresh"] == 0.0
    assert english["kinds"]["number"]["n"] == 2
    assert english["kinds"]["number"]["supported"] == 0.5
    assert english["false_alarms_verbatim"] == 0.0
    assert english["false_alarms_paraphrase"] == 1.0
    assert english["relation_supported"] == 1.0
    assert english["paraphrases"]["frame"] == {"n": 1, "false_alarms": 1.0, "supported": 0.0}
    chinese = report["languages"]["zh"]
    assert chinese["caught"] is None
    assert (chinese["supported_verbatim"], chinese["kinds"]) == (1.0, {})
    assert told[-1] == (7, 7)


class Scripted:
    """Gives the verdicts it was told to, one a sentence."""

    def __init__(self, *verdicts: Verdict) -> None:
        self._verdicts = verdicts

    def read_ahead(self, segments: list[Segment]) -> None:
        """Read nothing; what is checked is scripted."""

    async def check(self, sections: list[WrittenSection], *, meter: Meter) -> CheckResult:
        claims = tuple(CheckedClaim(n, n + 1, "x", verdict) for n, verdict in enumerate(self._verdicts))
        return CheckResult((claims,) * len(sections))


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        (("supported", "contradicted", "unsupported"), "contradicted"),
        (("supported", "unverified"), "unverified"),
        (("supported", "unsupported", "unverified"), "unsupported"),
        (("supported", "supported"), "supported"),
        ((), "unverified"),
    ],
)
async def test_the_worst_verdict_of_several_sentences_counts(verdicts: tuple[Verdict, ...], worst: Verdict) -> None:
    case = ClaimCase("A.", "B. C.", "en", "number", False)
    assert await verdict_of(Scripted(*verdicts), case) == worst
