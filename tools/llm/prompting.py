"""Prompts as chat messages: segments with their tags, sanitized and cut to a token budget."""

import html
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from answers.citations import context_outside, heading_path, said_segment_place
from graph.evidence import Segment
from graph.rows import Turn
from prompts import Prompt, lines
from text.late_patterns import late_pattern
from text.normal_forms import plain_letters, without_invisible
from text.scripts import INVISIBLE

_GAP = f"[{INVISIBLE}*_~`]{{0,6}}"
_WIDE_GAP = rf"[\s{INVISIBLE}*_~`\\|.-]{{0,8}}"
_EQUALS = rf"[=＝﹦꞊](?:[=＝\s{INVISIBLE}])*"
TAG = late_pattern(
    rf"(?:[\[［【〔〚⟦({{<]{_WIDE_GAP})?(?<!\w)[SsＳｓſ]{_GAP}[EeＥｅ]{_GAP}[GgＧｇ][\s{INVISIBLE}*_~`]{{0,8}}{_EQUALS}"
    rf"|[\[［【]{_WIDE_GAP}[SsＳｓſ]{_WIDE_GAP}[EeＥｅ]{_WIDE_GAP}[GgＧｇ]{_WIDE_GAP}(?:{_EQUALS}|[:：])"
)
# A tag whose letters have accents or strokes, or are signs and digits that look like them, behind a bracket.
_BRACKETS = r"\[［【〔〚⟦({<"
LOOSE_TAG = late_pattern(rf"[{_BRACKETS}]([^{_BRACKETS}\n]{{3,40}}?)[=＝﹦꞊≡≣≈≃≅≔⩵~∼:：꞉∶→⇒⟶⟹➔➜↦»›]")
_LOOKS_LIKE = str.maketrans("$5§ƨᔕʃ€3£∑ɛεξ69ɡ", "sssssseeeeeeeggg")
_NAMED_LETTER = re.compile(r"LATIN (?:SMALL |CAPITAL )?(?:LETTER )?(?:SMALL CAPITAL )?([A-Z])(?: WITH .*)?")
_NUMBER_LIKE = re.compile(r"[\W_]*\d[eE]\d[\W_]*")
SPECIAL_TOKEN = late_pattern(r"[<＜](?=\s*[|｜])|(?<=[|｜])[>＞]")
_TAGS = (
    "s|bos|eos|pad|unk|sys|system|user|human|assistant|developer|tool|tools|think|thinking|thought|reasoning|scratchpad|"
    "reflection|segments?|passages?|question|conversation|context|documents?|sources?|search_results?|instructions?|"
    "prompt|system_prompt|user_query|query|answer|untrusted|message|observation|invoke|parameters?|"
    "(?:[a-z]{1,12}:)?(?:function|tool)_?(?:calls?|response|results?|use|outputs?)|function_calls|"
    "(?:im|start|end|begin)_?(?:start|end|of_(?:turn|text|image|sentence))|[a-z]{1,8}_token"
)
CONTROL_TAG = late_pattern(
    rf"<{{1,2}}\s*(/?)\s*({_TAGS})((?:\s+[\w:-]+\s*=[^<>\n]{{0,200}})?)\s*/?\s*>{{1,2}}", re.IGNORECASE
)
INSTRUCTION = late_pattern(
    r"\[\s*(/?(?:INST|SYS|SYSTEM|SYSTEM_PROMPT|ASSISTANT|USER|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK))\s*\]",
    re.IGNORECASE,
)
_ROLES = (
    "system|assistant|user|human|developer|tool|ai|chatgpt|model|"
    "systeme|système|utilisateur|assistante|sistema|asistente|usuario|assistente|utente|usuário|"
    "benutzer|nutzer|assistent|gebruiker|пользователь|ассистент|система|kullanıcı|asistan|sistem|"
    "系统|系統|助手|用户|用戶|人类|开发者|システム|アシスタント|ユーザー|시스템|어시스턴트|사용자|"
    "hệ thống|trợ lý|người dùng|المستخدم|المساعد|النظام"
)
_OF_A_ROLE = r"(?:[ \t]+(?:note|notes|message|prompt|instructions?|override|update))?"
_LABELS = "segments|passages|conversation|last message|sections to correct|tried|[a-z' ]{0,80}, as json"
_START = r"(?:^|(?<=[\r\v\f\x85\u2028\u2029]))[ \t\u3000\xa0>#*_\-]*+"
ROLE = late_pattern(
    rf"({_START}(?:(?:{_ROLES}|question){_OF_A_ROLE}[ \t*_]*+|(?<=[#* \t])(?:instructions?|response|input)[ \t*_]*+"
    rf"|(?:{_LABELS})[ \t*_]*(?=[:：][ \t\r]*$)))[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_KEYS = "sections|source_ids|standalone_question|needs_retrieval|relevant|utility|tool_calls|tool_call_id|function_call"
ANSWER_KEY = late_pattern(
    rf'\\?["“”＂]({_KEYS}|role(?=\\?["“”＂]\s*[:：]\s*\\?["“”＂](?:{_ROLES})))\\?["“”＂](?=\s*[:：])', re.IGNORECASE
)
REPLACEMENTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (TAG, " (seg "),
    (SPECIAL_TOKEN, " "),
    (CONTROL_TAG, r"(\1\2\3)"),
    (INSTRUCTION, r"(\1)"),
    (ROLE, r"\1 -"),
    (ANSWER_KEY, r"'\1'"),
)


@lru_cache(maxsize=512)
def sanitize(text: str) -> str:
    """Neutralize text that looks like a segment tag, a role marker, a template token or a key of our replies.

    Entities and look-alike letters are resolved in lines where they hide one of these.
    """
    text = without_invisible(text)
    if not text.isascii() or "&" in text or "\\u" in text:
        text = "\n".join(_unmasked(line) for line in text.split("\n"))
    return LOOSE_TAG.sub(_untagged, _rewritten(text)[0])


def _untagged(found: re.Match[str]) -> str:
    inside = found[1]
    if _NUMBER_LIKE.fullmatch(inside) or "".join(map(_letter, inside)) != "seg" or inside.isdigit():
        return found[0]
    return " (seg "


@lru_cache(maxsize=4096)
def _letter(sign: str) -> str:
    """Return the small Latin letter that a sign looks like, or nothing for a sign that could stand between letters."""
    plain = unicodedata.normalize("NFKD", plain_letters(sign))[:1].casefold().translate(_LOOKS_LIKE)
    if plain.isascii():
        return plain if plain.isalnum() else ""
    named = _NAMED_LETTER.fullmatch(unicodedata.name(plain, ""))
    return named[1].lower() if named else plain if plain.isalnum() else ""


def one_line(text: str) -> str:
    """Sanitize a title or heading and return it as a single line of at most 200 characters."""
    return " ".join(sanitize(" ".join(text.split())).split())[:200]


def _unmasked(line: str) -> str:
    unmasked = plain_letters(html.unescape(line))
    return unmasked if unmasked != line and _rewritten(unmasked)[1] > _rewritten(line)[1] else line


def _rewritten(text: str) -> tuple[str, int]:
    count = 0
    for pattern, replacement in REPLACEMENTS:
        text, found = pattern.subn(replacement, text)
        count += found
    return text, count


ASCII_PER_TOKEN = 3.6


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text, rather too high than too low.

    ASCII text counts one token per 3.6 characters; every other character counts as one token (CJK, accented letters).
    """
    ascii_length = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_length / ASCII_PER_TOKEN) + len(text) - ascii_length


def cut_to_tokens(text: str, tokens: int) -> str:
    """Truncate a text at a space so that its estimate is at most ``tokens``; "…" marks the cut."""
    if estimate_tokens(text) <= tokens:
        return text
    shortest, longest = 0, len(text)
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if estimate_tokens(text[:middle]) < tokens:
            shortest = middle
        else:
            longest = middle - 1
    whole_words = text[:shortest].rsplit(None, 1)[0] if " " in text[shortest // 2 : shortest] else text[:shortest]
    return whole_words + "…"


Messages = Sequence[tuple[str, str]]
DIVIDER = "\n---\n"
PARAGRAPH = "\n\n"


def messages(prompt: Prompt, **fields: str) -> Messages:
    """Fill in a prompt and split it at the divider. What changes between requests may only be below the divider.

    So an endpoint can cache the part above, and text of documents and users is never in the system message.
    """
    system, user = prompt.format(**fields).split(DIVIDER, 1)
    return [("system", system.strip()), ("user", user.strip())]


def with_task(request: Messages, task: str) -> Messages:
    """Replace the last paragraph of a request, which says what to reply; all before it can come from a cache."""
    (_, system), (_, user) = request
    return [("system", system), ("user", f"{user.rsplit(PARAGRAPH, 1)[0]}{PARAGRAPH}{task}")]


def language_name(language: str) -> str:
    """Return the English name of a language (ISO 639-1) for a prompt."""
    return lines("en").languages.get(language, "the language of the question")


def conversation(turns: Sequence[Turn], *, max_tokens: int, last_whole: bool = False) -> str:
    """Format the last turns that fit in ``max_tokens``, oldest first, each answer cut to 120 tokens.

    ``last_whole`` leaves the last answer as it is, line breaks too, so that it can be translated or shortened.
    """
    lines: list[str] = []
    for turn in reversed(turns):
        whole = last_whole and not lines
        answer = cut_to_tokens(turn["answer"] if whole else " ".join(turn["answer"].split()), 600 if whole else 120)
        question = " ".join(turn["standalone_question"].split())
        formatted = f"Q: {sanitize(question)}\nA: {sanitize(answer)}"
        max_tokens -= estimate_tokens(formatted)
        if max_tokens < 0:
            break
        lines.append(formatted)
    return "\n".join(reversed(lines)) or "(none)"


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """The context as text, and the ids of its segments, in the order in which the segments were passed."""

    text: str
    segment_ids: tuple[str, ...]


def place_line(segment: Segment) -> str:
    """Return a segment's title, heading path and page, slide or sheet as one sanitized line."""
    parts = [one_line(segment.title), *(one_line(h) for h in segment.heading.split(" > "))]
    path = " > ".join(dict.fromkeys(part for part in parts if part))
    return ", ".join(part for part in (path, one_line(said_segment_place(segment))) if part) or "Untitled"


def shown_text(segment: Segment) -> str:
    """Return a segment's sanitized text below what it hangs on outside of it, each on a line such as ``(term: ...)``.

    So a row is read with the header of its table, and a definition with its term, wherever the segment was cut.
    """
    outside = (f"({each.role}: {one_line(each.text)})" for each in context_outside(segment))
    return "\n".join([*outside, sanitize(_text_with_paths(segment)).strip()])


def _text_with_paths(segment: Segment) -> str:
    """Return a segment's text with the path of each heading in it, since the place line has that of its first block."""
    parts: list[str] = []
    reached = segment.start
    for heading, block in pairwise(segment.blocks):
        path = heading_path(segment, block.start)
        if heading.kind == "heading" != block.kind and len(path) > 1 and " > ".join(path) != segment.heading:
            parts += [segment.text[reached - segment.start : heading.start - segment.start], " > ".join(path)]
            reached = heading.end
    return "".join([*parts, segment.text[reached - segment.start :]])


def segment_tokens(segment: Segment) -> int:
    """Estimate the tokens of a segment in a context, with its id, title, heading and what it hangs on."""
    return _heading_tokens(segment) + estimate_tokens(_line(segment, shown_text(segment)))


def _heading_tokens(segment: Segment) -> int:
    return estimate_tokens(place_line(segment)) + 4


def segment_context(segments: Sequence[Segment], *, max_tokens: int) -> SegmentContext:
    """Format segments for a model within ``max_tokens`` (estimated), in the order in which they are passed.

    Pass a run's sources in the order of their indices, which never changes: then a request with further sources begins
    like the one before, and an endpoint can reuse what it has read. Whole segments are taken up to the first that no
    longer fits; the first one is cut at a word if it alone is too long.
    """
    taken: dict[str, tuple[Segment, str]] = {}
    left = max_tokens
    for segment in segments:
        if segment.segment_id in taken:
            continue
        text = shown_text(segment)
        tokens = segment_tokens(segment)
        if tokens > left:
            if taken:
                break
            text = cut_to_tokens(text, max(1, left - _heading_tokens(segment) - estimate_tokens(_line(segment, ""))))
        taken[segment.segment_id] = (segment, text)
        left -= tokens
    return SegmentContext(_layout(list(taken.values())), tuple(taken))


def _layout(taken: list[tuple[Segment, str]]) -> str:
    lines: list[str] = []
    above: tuple[str, str] | None = None
    for segment, text in taken:
        here = (segment.document_id, place_line(segment))
        if here != above:
            lines.append(f"\n# {here[1]}")
            above = here
        lines.append(_line(segment, text))
    return "\n".join(lines).strip()


def _line(segment: Segment, text: str) -> str:
    return f"[SEG={segment.segment_id}] {text}"
