"""An export as Markdown: answers as they were written, each claim with footnotes that quote what proves it.

Of what people and documents wrote, nothing is read as a footnote, an image, an element or a link but what an answer
itself links to; a reader that fetches images has none to fetch.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from markdown_it import MarkdownIt

from answers.links import JOINER
from text.mark_places import code_spans, follows_address, follows_fence
from tools.exports.exported import Exchange, ExportedAnswer, ExportedSection, Mark, Note, Transcript, shown_of
from tools.exports.markdown_tree import fit, is_safe
from tools.exports.wording import Words

_SIGNS = re.compile(r"[\\`*_\[\]<>|~&$^@]")
_BEGINS_BLOCK = re.compile(r"^(\s*)([#+=-]|\d{1,9}(?=[.)]))", re.MULTILINE)
_ADDRESS = re.compile(r"(?<=:)//|(?<=www)\.", re.IGNORECASE)
_BREAKS_OUT = re.compile(r"\[\^|!\[|<(?=[A-Za-z/!?])")
_DEFINES = re.compile(r"\](?=:)|(?<=!)\[[^\]\n]*\](?=[(\[])")
_HEADINGS = MarkdownIt("commonmark")
_READ_WITH_A_MARK = ("(", "[", ":")
DEEPER = "##"  # an answer's headings stand below those of the export


def markdown_file(transcript: Transcript, words: Words) -> bytes:
    """Return a transcript as a Markdown file in UTF-8."""
    return ("\n\n".join(part for part in _parts(transcript, words) if part) + "\n").encode("utf-8", "replace")


def plain(text: str) -> str:
    """Return a text on one line, of which nothing means anything in Markdown."""
    return _inert(" ".join(fit(text).split()))


def _inert(text: str) -> str:
    escaped = _SIGNS.sub(r"\\\g<0>", text)
    return _ADDRESS.sub(r"\\\g<0>", _BEGINS_BLOCK.sub(_escaped_begin, escaped))


def _escaped_begin(found: re.Match[str]) -> str:
    space, sign = found.groups()
    return f"{space}{sign}\u2060" if sign.isdigit() else f"{space}\\{sign}"


def _parts(transcript: Transcript, words: Words) -> Iterator[str]:
    yield f"# {plain(transcript.title)}"
    yield f"*{words.made(transcript)}*"
    if not transcript.is_whole:
        yield f"*{words('answer_only')}*"
    if transcript.withheld:
        yield f"**{words('something_left_out')}**"
    if transcript.text:
        yield _marked(ExportedSection(transcript.text), words)
    notes: list[Note] = []
    for exchange in transcript.exchanges:
        yield from _exchange(exchange, words)
        if exchange.answer is not None:
            notes += exchange.answer.notes
    if transcript.documents:
        yield f"## {words('documents')}"
        head = [words(name) for name in ("document", "version", "current", "changed_at")]
        yield _table(
            head,
            [
                [plain(each.title), each.version or words("unknown"), each.current, words.day(each.changed_at)]
                for each in transcript.documents
            ],
        )
    yield "\n".join(_footnote(note, words) for note in notes)


def _exchange(exchange: Exchange, words: Words) -> Iterator[str]:
    yield f"## {plain(exchange.question)}"
    if exchange.asked_at is not None:
        yield f"*{words('asked', date=words.day(exchange.asked_at))}*"
    if exchange.selected_text:
        yield f"{words('selected')}:"
        yield "\n".join(f"> {line}" for line in _inert(fit(exchange.selected_text)).split("\n"))
    answer = exchange.answer
    if answer is None:
        yield f"*{words('no_answer')}*"
        return
    if said := words.state(answer):
        yield f"*{said}*"
    yield from _sections(answer, words)
    if answer.nearest:
        yield f"### {words('nearest')}"
        yield "\n".join(f"- {plain(words.source(each))}: {plain(shown_of(each))}" for each in answer.nearest)
    if answer.disagreements:
        yield f"### {words('disagreements')}"
        yield "\n".join(f"- {plain(line)}" for each in answer.disagreements for line in words.sides(each))
    if answer.account is not None:
        yield f"### {words('account')}"
        yield "\n\n".join(map(plain, words.paid(answer.account)))


def _sections(answer: ExportedAnswer, words: Words) -> Iterator[str]:
    for section, turns_ungrounded in answer.told():
        if turns_ungrounded:
            yield f"*{words('ungrounded')}*"
        if section.passage is not None:
            yield f"*{plain(words.quoted_from(section.passage))}*"
        yield f"*{_inert(words('left_out'))}*" if section.withheld else _marked(section, words)


def _marked(section: ExportedSection, words: Words) -> str:
    """Return a section with its marks and with headings one step deeper; code stays as it is."""
    text = fit(section.text)
    code = [(start, end) for start, end in code_spans(text) if text[start] in "`~"]  # and no block of HTML

    def is_code(*places: int) -> bool:
        return any(all(start <= at < end for at in places) for start, end in code)

    # Whatever stands before it, a backslash too, nothing begins where its first two signs are parted.
    added = [(at, 1, JOINER) for at in _broken_out(text) if not is_code(at)]
    added += [(at, 1, DEEPER) for at in _heading_places(text)]
    # A mark within code would end it: what reads as code to its end was prose to where the claim ends.
    added += [(mark.at, 0, _mark(mark, text, words)) for mark in section.marks if not is_code(mark.at - 1, mark.at)]
    written: list[str] = []
    done = 0
    for at, _, addition in sorted(added):
        written += [text[done:at], addition]
        done = at
    return "".join([*written, text[done:]])


def _broken_out(text: str) -> set[int]:
    """Return the places within what would be a footnote, an image, an element or a link's definition."""
    found = {each.start() + 1 for each in _BREAKS_OUT.finditer(text)}
    return found | {each.end() for each in _DEFINES.finditer(text)}


def _heading_places(text: str) -> list[int]:
    lines = text.split("\n")
    starts = [0]
    for each in lines:
        starts.append(starts[-1] + len(each) + 1)
    found: list[int] = []
    for token in _HEADINGS.parse(text):
        if token.type == "heading_open" and token.map and token.markup.startswith("#") and len(token.markup) <= 4:
            line = token.map[0]
            if (at := lines[line].find("#")) >= 0:
                found.append(starts[line] + at)
    return found


def _mark(mark: Mark, text: str, words: Words) -> str:
    written = "".join(f"[^{number}]" for number in mark.notes)
    if mark.is_told:
        written += f" ({words(mark.grade)})"
    if follows_fence(text, mark.at):
        return f"\n{written}\n"
    before = text[mark.at - 1 : mark.at]
    separator = JOINER if before in ("]", "!") else " " if follows_address(text, mark.at) else ""
    behind = JOINER if text[mark.at : mark.at + 1] in _READ_WITH_A_MARK else ""
    return separator + written + behind


def _footnote(note: Note, words: Words) -> str:
    if note.withheld:
        return f"[^{note.number}]: {plain(words('withheld'))}"
    context = "".join(f"{plain(each['text'])} … " for each in note.context)
    address = note.address if is_safe(note.address) else ""
    place = [plain(words.where(note)), f"<{quote(fit(address), safe=_IN_ADDRESS)}>" if address else ""]
    start, end = note.highlight or (0, 0)
    before, shown, behind = (plain(part) for part in (note.quote[:start], note.quote[start:end], note.quote[end:]))
    quoted = " ".join(part for part in (before, f"**{shown}**" if shown else "", behind) if part)
    said = " ".join([f'"{context}{quoted}"', "—", ", ".join(part for part in place if part)])
    return " ".join([f"[^{note.number}]: {said}.", *(f"*{plain(each)}*" for each in words.of_note(note))])


_IN_ADDRESS = "!#$%&'()*+,-./:;=?@[]_~"


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
