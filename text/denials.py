"""Rules by which one passage takes back, doubts, conditions or frames another, in English, Vietnamese and Chinese.

Each function looks at one passage and returns what it does to others, or None. They say nothing of what a sentence
denies within itself: "X is not supported" is an answer. The words are in ``denials.toml``.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from graph.evidence import Governance
from text.language import word_set
from text.late_patterns import any_of
from text.normal_forms import letter_runs

_CORRECTING = (  # one of these is in a sentence that corrects another part of a document
    "editor", "postscript", "p.s.", "update:", "edit:", "wrong", "incorrect", "编者", "有误", "补记", "又及",
    "biên tập", "correction", "errat", "corrigend", "retraction", "misprint", "mistakenly", "erroneously",
    "mixed up", "apologi", "đính chính", "cải chính", "nhầm", "in sai", "ghi sai", "更正", "勘误", "订正", "误写",
    "误作", "误登", "误印", "写错", "印错", "登错", "报错", "标错", "记错", "笔误", "致歉", "有误",
)  # fmt: skip
_LONGEST_MARK = 160  # characters
_SHORT_LEAD = 48  # characters of a lead-in without a colon, such as "Not covered"
_HAN = re.compile("[\u4e00-\u9fff]")
_CLAUSE = re.compile(r"([,;，；.!?。！？]|\s[–—-]\s|\bbut\b|\bso\b|nhưng|但)")
_BRACKETED = re.compile(r"[(（][^()（）]*[)）]")
_TURNS = frozenset({"but", "so", "nhưng", "但"})
_HAN_TRIGGERS = re.compile(
    "终止|到期|结束|叫停|中止|证据|根据|证实|证明|示例|样例|废|效|撤|停止|弃用|过时|归档|旧|误|谣|传|谬|反例|草案|仅|只[适限供对]|梦|虚构|不再|[年月]起|幕|卸妆|合上|即日|日起|本[周月]起|下[周月]起|改[在到由成]|暂|睡|眼|盹|演|台上|设想|假设|试想|通过|否决|推翻|不实|属实|不成立|更正|订正"
    "|据说|坊间|民间|有人|人们|人.{0,4}[以认相]为|毫无|没有根据|未经|没有证据|谎|骗|捏造|编造|假|如下|以下|下列|改为|调整|上调|下调"
    "|提高到|降|醒|为止|到期|后来|此后|[戏剧话事说][里中]|可信|有误|纯属|错|印|胡说|吹牛|取消|取代|驳回|批准|获批|立项|拨付|拨款|当选|中标|签署|同意"
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A passage in lower case, with its words and whether it has Chinese characters."""

    lowered: str
    words: frozenset[str]
    han: bool

    @classmethod
    def of(cls, text: str) -> "Wording":
        """Read a text."""
        lowered = text.lower()
        return cls(lowered, frozenset(letter_runs(lowered)), not text.isascii() and _HAN.search(text) is not None)

    @property
    def ends_in_colon(self) -> bool:
        return self.lowered.endswith((":", "："))


class _Rule:
    """Patterns by language; those of spaced languages are tried only where one of the rule's words is.

    A pattern is compiled when it is first tried: all of them take a tenth of a second, and most answers need few.
    """

    def __init__(self, row: dict[str, Any], parts: dict[str, str]) -> None:
        self.words = word_set(row.get("words", ""))
        self._row = row
        self._parts = parts

    @cached_property
    def spaced(self) -> re.Pattern[str]:
        return _pattern([*self._row.get("en", []), *self._row.get("vi", [])], self._parts)

    @cached_property
    def chinese(self) -> re.Pattern[str]:
        return _pattern(self._row.get("zh", []), self._parts)

    def search(self, passage: Wording) -> bool:
        if passage.han and self.chinese.search(passage.lowered) is not None:
            return True
        if self.words and self.words.isdisjoint(passage.words):
            return False
        return self.spaced.search(passage.lowered) is not None

    def find(self, lowered: str) -> int | None:
        """Return where the first match begins in a part of a passage; None if there is none."""
        found = [each.start() for rule in (self.spaced, self.chinese) if (each := rule.search(lowered))]
        return min(found, default=None)


def _pattern(alternatives: list[str], parts: dict[str, str]) -> re.Pattern[str]:
    joined = any_of(alternatives) or r"(?!)"
    return re.compile(re.sub(r"<(\w+)>", lambda name: parts[name[1]], joined))


def _read_rules() -> dict[str, _Rule]:
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    parts = {name: f"(?:{'|'.join(words)})" for name, words in rows.pop("parts").items()}
    return {name: _Rule(row, parts) for name, row in rows.items()}


_RULES = _read_rules()


def _words_of(*rules: str) -> frozenset[str]:
    return frozenset[str]().union(*(_RULES[name].words for name in rules))


# A rule about whole sentences needs one of these words, or one of both sets of a pair.
_TRIGGERS = _words_of("liar", "corrects", "named_ended", "awake", "asleep", "doubt", "imagined", "outdates") - word_set(
    """
    chapter script names p case false right error update updated void invalid role made once show characters man
    performed word say correct starting act told tells closed shut editor author extended
    """
)
_LABELS = ("update", "edit", "p.s", "ps", "note by", "author")
_PARTS = word_set("this present following follows below next these này sau đây dưới")
_ABOUT_PARTS = _words_of(
    "part_ended", "part_untrue", "restriction", "false_ahead", "hypothesis", "past_ahead", "imagined"
) - word_set("for following below next these used do up before those") | word_set("who whose")
_POINTING = word_set(
    """
    this that these those it they both neither none nothing there nobody above preceding foregoing since then as now
    today nowadays meanwhile effective starting beginning from
    decision motion proposal amendment resolution rule statement claim story report sentence paragraph provision account
    order theory testimony bill regulation allegation suggestion application announcement promise arrangement passage
    practice scheme permission custom service perk benefit discount policy agreement exemption privilege concession
    programme program deal subsidy bonus allowance offer này đó ấy trên nay hiện từ
    """
)
_POINTED = (
    _words_of("back_ended", "back_untrue", "undecided", "replaced")
    - _POINTING
    - word_set("case new called sort shown certain")
)

_RARE_TRIGGERS = frozenset[str]().union(
    *(
        _RULES[name].words
        for name in ("part_ended", "back_ended", "back_untrue", "liar", "awake", "doubt", "hypothesis")
    )
) - word_set(
    """
    end ended over gone history given called until ran arrangement practice shown put did custom scheme basis proved
    existed permission terminated stop stopped truth kết chấm dứt ngừng dừng hết
    removed replaced dropped deleted lost passed accepted set turned force effect never longer true false correct error
    case said say think told repeated go goes come comes built success succeeds permission yes void reversed failed no
    made signed sort correction không đúng chính thật còn sai bác quan định căn cơ tin đồng thông cấp người bằng tương
    thay lưu xác chứng chấp sở kiểm áp lỗi mất rút thu cũ
    """
)


def has_trigger(text: str) -> bool:
    """Whether a text has a word that rules about whole sentences look for; takes a microsecond or two."""
    lowered = text.lower()
    if lowered.startswith(_LABELS):
        return True
    words = letter_runs(lowered)
    if not (
        _TRIGGERS.isdisjoint(words)
        and (_PARTS.isdisjoint(words) or _ABOUT_PARTS.isdisjoint(words))
        and (_POINTING.isdisjoint(words) or _POINTED.isdisjoint(words))
    ):
        return True
    return not text.isascii() and _HAN_TRIGGERS.search(text) is not None


def may_govern_afar(before: str, after: str) -> bool:
    """Whether one of two texts may govern the other: a quick look that leaves out words common in manuals."""
    if not _RARE_TRIGGERS.isdisjoint(letter_runs(f"{before}\n{after}".lower())):
        return True
    return any(not text.isascii() and _HAN_TRIGGERS.search(text) is not None for text in (before, after))


def _is(rule: str, passage: Wording) -> bool:
    return _RULES[rule].search(passage)


def mark(passage: Wording) -> Governance | None:
    """Return what a heading, label, caption or sentence of a few words does to what stands below it."""
    if len(passage.lowered) > _LONGEST_MARK:
        return None
    if _is("mark_ended", passage):
        return "repeals"
    if _is("mark_false", passage):
        return "doubts"
    if _is("mark_imagined", passage):
        return "imagines"
    return "conditions" if _is("mark_conditioned", passage) else None


def has_clause(wording: Wording) -> bool:
    """Whether a sentence reports something in a clause of its own: "Rumours say that the shop shuts."."""
    return _CLAUSE_OF_ITS_OWN.search(wording.lowered) is not None


_CLAUSE_OF_ITS_OWN = re.compile(
    r"\b(?:says?|said|claims?|claimed|tells?|told|holds?|held|ha(?:s|ve|d) it)(?: \w+)? that \w"
    r"|\brằng \w+ \w|(?<![传据学小])(?:说|声称|认为|以为)(?![法明])[^，。]{4}"
)


def denies_column(cell: str) -> bool:
    """Whether the header of a column says that what stands in it is not so, or not so any more."""
    return _is("column", Wording.of(cell.strip()))


def leads_ahead(passage: Wording) -> bool:
    """Whether a passage points to what comes after it: it ends in a colon or says "the following"."""
    return passage.ends_in_colon or _is("ahead", passage)


def lead_in(passage: Wording) -> Governance | None:
    """Return what a lead-in does to the items, rows, code or sentences that it introduces."""
    if _is("false_ahead", passage):
        return "denies"
    if _is("hypothesis", passage) or _is("restriction", passage):
        return "conditions"
    if _is("imagined", passage):
        return "imagines"
    if _is("doubt", passage) and not _is("settled", passage):
        return "doubts"
    if _is("past_ahead", passage):
        return "repeals"
    lowered = passage.lowered
    short = len(lowered) <= _SHORT_LEAD and not lowered.endswith((".", "。"))
    if (short or leads_ahead(passage)) and _denies(passage):
        return "denies"
    return "says" if _is("speaker", passage) else None


def _denies(passage: Wording) -> bool:
    """Whether the last main clause of a lead-in denies, as "The plan does not cover:" does."""
    if not passage.han and _RULES["negated"].words.isdisjoint(passage.words):
        return False
    lowered = passage.lowered
    denied = named = False
    pieces = _CLAUSE.split(_BRACKETED.sub(" ", lowered))
    for at in range(0, len(pieces), 2):
        clause = pieces[at]
        if at and pieces[at - 1] in _TURNS:
            denied = False
        if not any(map(str.isalnum, clause)):
            continue
        found = _RULES["negated"].find(clause)
        under = _RULES["subordinate"].find(clause)
        if found is not None and (under is None or found < under):
            denied = _RULES["affirmed"].find(clause[found:].partition(" ")[2]) is None
            named = "following" in clause or "these" in clause
        elif denied and (
            _RULES["affirmed"].find(clause) is not None or (under is not None and under < 2 and not named)
        ):
            denied = False
    return denied


def announces(passage: Wording) -> Governance | None:
    """Return what a whole sentence does to what it announces, as "The next paragraph no longer applies." does."""
    if not leads_ahead(passage):
        return None
    if _is("false_ahead", passage):
        return "denies"
    if _is("hypothesis", passage) or _is("restriction", passage):
        return "conditions"
    return "repeals" if _is("past_ahead", passage) and not passage.ends_in_colon else None


def frames(passage: Wording) -> Governance | None:
    """Return what a sentence does to those after it that go on with its story: a rumour, a dream."""
    if _is("doubt", passage) and not _is("settled", passage):
        return "doubts"
    return "imagines" if _is("imagined", passage) and not _is("unreal", passage) else None


def falls_asleep(passage: Wording) -> bool:
    """Whether somebody falls asleep in a sentence; what follows is a dream if a sentence soon after wakes them."""
    return _is("asleep", passage)


def wakes(text: str) -> bool:
    """Whether somebody wakes in a sentence, or what came before it was a dream."""
    return _is("wakes", Wording.of(text))


def about_part(passage: Wording) -> Governance | None:
    """Return what a sentence says of the section, page or rule that it stands in: repealed, false, or for some only."""
    if not _is("this_part", passage):
        return None
    if _is("part_ended", passage):
        return "repeals"
    if _is("part_untrue", passage):
        return "doubts"
    if _is("imagined", passage):
        return "imagines"
    return "conditions" if _is("restriction", passage) else None


def said_back(passage: Wording) -> Governance | None:
    """Return what a sentence does to those before it, which it points back to."""
    if passage.ends_in_colon or (not passage.han and _POINTING.isdisjoint(passage.words)):
        return None
    if _is("replaced", passage):
        return "repeals"
    if _is("awake", passage):
        return "imagines"
    kind: Governance | None = None
    if _is("back_ended", passage):
        kind = "repeals"
    elif _is("back_untrue", passage):
        kind = "doubts"
    elif _is("undecided", passage):
        kind = "conditions"
    return None if kind is None or _is("other", passage) else kind


def corrects(passage: Wording) -> bool:
    """Whether a sentence corrects an earlier one, which it may stand far from."""
    return _is("corrects", passage)


def ends_a_part(passage: Wording) -> bool:
    """Whether a sentence says that something is repealed; it governs a part of the document if it names its heading."""
    return _is("named_ended", passage)


def corrections(text: str) -> list[int]:
    """Return the offsets in a text in lower case of words that a sentence which corrects another has, in any order."""
    return [at for word in _CORRECTING for at in _places(text, word)]


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def outdates(passage: Wording) -> bool:
    """Whether a sentence tells of a newer state; it governs earlier sentences only where they share its words."""
    return _is("outdates", passage)


def calls_a_liar(passage: Wording) -> bool:
    """Whether a sentence says that somebody's words are not to be believed."""
    return _is("liar", passage) and not _is("trusted", passage)


# --- questions --------------------------------------------------------------------------------------------------------


def denied_itself(question: Wording) -> bool:
    """Whether a question asks for what is not so: "What does the plan not cover?"."""
    return _is("asks_denied", question)


def recalls_past(question: Wording) -> bool:
    """Whether a question asks for what was so before, or is taken back: "What was the old fee?"."""
    return _is("asks_past", question) or mark(question) == "repeals"


def names_pretence(question: Wording) -> bool:
    """Whether a question asks for what somebody says, believes, dreams or plays."""
    return _is("asks_told", question)


def hypothetical(passage: Wording) -> bool:
    """Whether a condition is that something will happen, rather than for whom a rule is."""
    return _is("hypothesis", passage)


def names_kin(passage: str) -> bool:
    """Whether a Chinese sentence introduces a relative or companion of the one spoken of so far."""
    return _KIN.search(passage) is not None


def names_nobody(text: str) -> Literal["person", "thing"] | None:
    """Return what the pronoun stands for that a sentence opens with; None where it opens with none."""
    if _PERSON.match(text):
        return "person"
    return "thing" if _THING.match(text) else None


_KIN = re.compile(
    "[女儿]儿|[妹弟]|哥哥|姐姐|妻子|丈夫|父亲|母亲|学生|徒弟|师父|老师|同事|朋友|邻居|助手|[表堂][兄弟姐妹]|[叔姑伯]|儿子|搭档"
)
_PERSON = re.compile(
    r"(?:[-*•]\s+)?(?:(?:he|she|they)\b|(?:họ)\b|(?:ông|bà|anh|chị|cô|cụ|cậu) (?-i:[a-zà-ỹđ])|[他她])", re.IGNORECASE
)
_THING = re.compile(
    r"(?:[-*•]\s+)?(?:(?:it|this|that|these|those)\b|(?:nó|chúng|điều này|việc này)\b|[它这此])", re.IGNORECASE
)
