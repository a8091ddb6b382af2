"""Parser of mails and mailboxes: who wrote what to whom and when, the text, and each attachment by its own parser.

The subject is the title. Lines that quote an older mail, and signatures, are quotes, and so is what stands below the
headers of an older one; a reply hangs on the quoted passage above it. Of a text in several versions the plain one is
read. Parts are cut here rather than by the email package, which takes time quadratic in the depth of a hostile mail;
headers and transfer encodings are its own.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32

from graph.errors import UnreadableDocument
from tools.parsers import parse
from tools.parsers.canonical_text import CHECK_SUFFIX, COLONS, Block, CanonicalText, Parsed, paragraphs, storable
from tools.parsers.plain import decode, read_text

_MOST_DEPTH = 8  # parts and mails within others
_MOST_PARTS = 1000  # of a mail
_MOST_ATTACHMENTS = 200
_MOST_MAILS = 20_000
_MOST_HEADER = 256_000  # bytes of all headers of a part
_LONGEST_HEADER = 4000  # characters
_MOST_NAMED = 20  # things left out that are named one by one
_SHOWN = ("From", "To", "Cc", "Date")
_READ = frozenset(
    {*map(str.lower, _SHOWN), "subject", "content-type", "content-disposition", "content-transfer-encoding"}
)
_OF_MAILS = frozenset({*_READ, "received", "message-id", "mime-version", "return-path", "reply-to", "sender"})
_BLANK_LINE = re.compile(rb"(?:\A|\n)\r?\n")
_FOLD = re.compile(r"\r?\n[ \t]*")
_QUOTED = re.compile(r"(?:>[ \t]?)+")
_ENVELOPE = re.compile(rb"(?:\A|(?<=\n)\r?\n)From [^\r\n]*?\d\d:\d\d[^\r\n]*\r?\n")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_OLD_HEADER = re.compile(r"[^\W\d_][^:：\n]{0,24}[:：][ \t\xa0]*(?P<said>\S.*)")
_ATTRIBUTION = re.compile(r"(?=.*\d)(?:[^\n]{1,120}\n)?[^\n]{1,120}[:：]")  # of two short lines at most, with a date
_RULE = re.compile(r"[-_=*]{2,}(?:.*[-_=*]{2,})?\s*")
_MOMENT = re.compile(r"(?s)(?=.*\b\d{1,2}[:.]\d\d\b).*\d{4}")
_FEWEST_OLD_HEADERS = 3


def read(data: bytes) -> Parsed:
    """Parse a mail. Raises UnreadableDocument if it has none of a mail's headers."""
    data = _ENVELOPE.sub(b"", data.lstrip(), count=1) if data.lstrip().startswith(b"From ") else data.lstrip()
    names = {name.lower() for name in _split(data)[0].keys()}  # noqa: SIM118 - a Message, not a dict
    if not names & _OF_MAILS:
        raise UnreadableDocument(
            "The file is no mail: it has no headers such as From or Subject.", suggestion=CHECK_SUFFIX
        )
    with _allowance() as allowed:
        reader = _Reader(allowed)
        title = reader.mail(data, level=1)
    return reader.parsed(title)


def read_mailbox(data: bytes) -> Parsed:
    """Parse a mailbox in the mbox format, its mails one after another.

    Raises UnreadableDocument if it is no mailbox, or has more than 20,000 mails.
    """
    data = data.lstrip()
    starts = list(_ENVELOPE.finditer(data))
    if not starts or starts[0].start():
        raise UnreadableDocument(
            "The file is no mailbox: it does not begin with a line such as 'From ada@host ...'.",
            suggestion=CHECK_SUFFIX,
        )
    if len(starts) > _MOST_MAILS:
        raise UnreadableDocument(f"The mailbox has more than {_MOST_MAILS:,} mails.", suggestion="Split it.")
    with _allowance() as allowed:
        reader = _Reader(allowed)
        for at, start in enumerate(starts):
            end = starts[at + 1].start() if at + 1 < len(starts) else len(data)
            allowed.parts = _MOST_PARTS
            reader.mail(_ESCAPED.sub(rb"\1", data[start.end() : end]), level=1, number=at + 1)
    return reader.parsed(None)


@dataclass(slots=True)
class _Allowance:
    """What may still be read of a mail and of those attached to it."""

    depth: int = _MOST_DEPTH
    parts: int = _MOST_PARTS
    attachments: int = _MOST_ATTACHMENTS


_ALLOWED: ContextVar[_Allowance | None] = ContextVar("allowed", default=None)


@contextmanager
def _allowance() -> Iterator[_Allowance]:
    """Yield what is left; an attached file of mail, which is parsed by itself, shares what is left around it."""
    allowed = _ALLOWED.get() or _Allowance()
    token = _ALLOWED.set(allowed)
    try:
        yield allowed
    finally:
        _ALLOWED.reset(token)


class _Reader:
    """A reader of mails into one text; what it could not read it says."""

    def __init__(self, allowed: _Allowance) -> None:
        self._text = CanonicalText()
        self._subject = ""
        self._allowed = allowed
        self._left_out: list[str] = []
        self._warnings: list[str] = []

    def mail(self, data: bytes, *, level: int, number: int = 0) -> str:
        headers, _ = _split(data)
        subject = self._subject = _header(headers, "Subject")
        self._text.add_heading(level, subject or _header(headers, "From") or f"Mail {number}".removesuffix(" 0"))
        tight = False
        for name in _SHOWN:
            value = _header(headers, name)
            if value:
                self._text.add("table_row", f"{name}: {value}", tight=tight)
                tight = True
        self._part(data, level)
        return subject

    def parsed(self, title: str | None) -> Parsed:
        said = list(dict.fromkeys(self._left_out))
        if len(said) > _MOST_NAMED:
            said = [*said[:_MOST_NAMED], f"{len(said) - _MOST_NAMED} more attachments or parts were left out."]
        warnings = tuple(dict.fromkeys(self._warnings))
        return replace(self._text.parsed(), title=title or None, left_out=tuple(said), warnings=warnings)

    def _part(self, data: bytes, level: int) -> bool:
        allowed = self._allowed
        allowed.parts -= 1
        if allowed.parts < 0:
            self._left_out.append(f"The mail has more than {_MOST_PARTS:,} parts: the rest was left out.")
            return False
        if allowed.depth <= 0:
            self._left_out.append(f"Parts that nest deeper than {_MOST_DEPTH} levels were left out.")
            return False
        allowed.depth -= 1
        try:
            return self._inside(*_split(data), level)
        finally:
            allowed.depth += 1

    def _inside(self, headers: Message, body: bytes, level: int) -> bool:
        kind, name = headers.get_content_type(), _file_name(headers)
        if kind == "multipart/encrypted" or kind in ("application/pkcs7-mime", "application/x-pkcs7-mime"):
            self._left_out.append("The text of the mail is encrypted, and was left out.")
            return False
        if kind.startswith("multipart/"):
            return self._multipart(kind, list(_cut(headers, body, self._allowed.parts + 1)), level)
        content = _decoded(headers, body)
        if kind == "message/rfc822":
            self.mail(content.lstrip(), level=level + 1)
            return True
        if name or headers.get_content_disposition() == "attachment" or kind not in ("text/plain", "text/html"):
            self._attachment(content, name, kind, level + 1)
            return True
        return self._body(headers, content, kind)

    def _multipart(self, kind: str, parts: list[bytes], level: int) -> bool:
        if kind == "multipart/alternative":
            # The plain version first, then the others from the richest on, until one has words.
            kinds = [_split(part)[0].get_content_type() for part in parts]
            order = sorted(range(len(parts)), key=lambda at: (kinds[at] != "text/plain", -at))
            return any(self._part(parts[at], level) for at in order)
        return any([self._part(part, level) for part in parts])

    def _body(self, headers: Message, content: bytes, kind: str) -> bool:
        charset = _said(headers.get_content_charset)
        try:
            text = storable(_in_charset(content, charset)).removeprefix("\ufeff")
            if not text.strip():
                return False
            if kind == "text/html":
                parsed = parse(b"\xef\xbb\xbf" + text.encode(), name="", media_type=kind)
                self._left_out += parsed.left_out
            else:
                flowed = _said(lambda: headers.get_param("format")).lower() == "flowed"
                parsed = _plain(text, flowed=flowed, joined=_said(lambda: headers.get_param("delsp")).lower() == "yes")
        except UnreadableDocument as error:
            self._left_out.append(f"The text of the mail was not read: {error.message}")
            return False
        return self._text.include(_threaded(parsed, self._subject)) is not None

    def _attachment(self, content: bytes, name: str, kind: str, level: int) -> None:
        shown = f"The attachment {name[:80]}" if name else f"An attachment ({kind})"
        if kind.startswith(("image/", "audio/", "video/")):
            self._left_out.append(f"{shown} was left out: it is no text.")
            return
        self._allowed.attachments -= 1
        if self._allowed.attachments < 0:
            self._left_out.append(f"The mail has more than {_MOST_ATTACHMENTS} attachments: the rest was left out.")
            return
        try:
            parsed = parse(content, name=name, media_type=kind)
        except UnreadableDocument as error:
            self._left_out.append(f"{shown} was not read: {error.message}")
            return
        self._text.add_heading(level, name or parsed.title or kind)
        self._text.include(parsed)
        self._left_out += [f"{shown}: {said}" for said in parsed.left_out]
        self._warnings += [f"{shown}: {said}" for said in parsed.warnings]


def _plain(text: str, *, flowed: bool, joined: bool) -> Parsed:
    """Read a plain text; ``flowed`` lines that end with a space go on with the next one."""
    written = CanonicalText()
    lead: int | None = None
    for quoted, lines in _runs(text.splitlines(), flowed=flowed, joined=joined):
        words = "\n".join(lines)
        if not quoted:
            last = written.include(read_text(words))
            lead = last if words.rstrip().endswith(COLONS) else None
            continue
        for block in paragraphs(words, 0, len(words), None):
            written.add("quote", words[block.start : block.end], hangs_on=(lead,))
        lead = None
    return written.parsed()


def _threaded(part: Parsed, subject: str) -> Parsed:
    """Return a mail's text with what it quotes apart: paragraphs below the headers of an older mail are quotes.

    A reply hangs on the quoted passage that it stands below, and a quote on the line that says whose it is, a label.
    """
    blocks: list[Block] = []
    quoted: int | None = None
    older: int | None = None  # the headers above
    before = ""
    for at, block in enumerate(part.blocks):
        words = part.text[block.start : block.end]
        if block.kind == "paragraph" and _are_old_headers(words, before, subject):
            older, block = at, replace(block, kind="label")
        elif older is not None and block.kind == "paragraph":
            block = replace(block, kind="quote", hangs_on=(older, *block.hangs_on))
        elif block.kind == "quote":
            quoted = at
            if blocks and blocks[-1].kind == "paragraph" and _ATTRIBUTION.fullmatch(before):
                blocks[-1] = replace(blocks[-1], kind="label")
        elif quoted is not None and block.kind in ("paragraph", "list_item") and not block.hangs_on:
            block = replace(block, hangs_on=(quoted,))
        blocks.append(block)
        before = words
    return replace(part, blocks=tuple(blocks))


def _are_old_headers(words: str, before: str, subject: str) -> bool:
    """Whether a paragraph is the headers of an older mail in any language: lines of a label each, one with a moment.

    One also has an address or the subject, or a rule stands above; a signature or an invitation has labels too.
    """
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    is_ruled = _RULE.fullmatch(lines[0] if len(lines) > 1 else before) is not None
    said = [found["said"] for line in lines if (found := _OLD_HEADER.fullmatch(line))]
    if len(said) < max(_FEWEST_OLD_HEADERS, len(lines) - 1) or _MOMENT.match(words) is None:
        return False
    return is_ruled or "@" in words or any(subject.endswith(each) for each in said)


def _in_charset(content: bytes, charset: str) -> str:
    """Decode a text by the charset of its headers, or as if they named none where that is wrong."""
    try:
        return decode(content, declared=charset)
    except UnreadableDocument:
        return decode(content)


def _runs(lines: list[str], *, flowed: bool, joined: bool) -> Iterator[tuple[bool, list[str]]]:
    """Yield runs of lines without their marks, each with whether it is a quote or a signature."""
    run: list[list[str]] = []  # lines as the pieces that flow together
    before, signed, goes_on = 0, False, False
    for line in lines:
        marks = _QUOTED.match(line)
        depth = marks[0].count(">") if marks else 0
        words = line[marks.end() :] if marks else line.removeprefix(" ") if flowed else line
        ends = words.rstrip("\r") in ("-- ", "--") and not depth
        if ends or (depth != before and not signed):
            if run:
                yield before > 0 or signed, ["".join(pieces) for pieces in run]
            run, goes_on, signed = [], False, signed or ends
        before = depth
        flows = flowed and words.endswith(" ") and not ends
        piece = words[:-1] if flows and joined else words
        if goes_on and run:
            run[-1].append(piece)
        else:
            run.append([piece])
        goes_on = flows
    if run:
        yield before > 0 or signed, ["".join(pieces) for pieces in run]


def _split(data: bytes) -> tuple[Message, bytes]:
    found = _BLANK_LINE.search(data)
    head, body = (data[: found.start() + 1], data[found.end() :]) if found else (data, b"")
    headers = Message(compat32)
    for name, value in BytesHeaderParser(policy=compat32).parsebytes(head[:_MOST_HEADER]).raw_items():
        if name.lower() in _OF_MAILS and name not in headers:
            written = str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            headers[name] = _FOLD.sub(" ", written)[:_LONGEST_HEADER]
    return headers, body


def _header(headers: Message, name: str) -> str:
    return _words(str(headers.get(name, "")))


def _words(written: str) -> str:
    """Return what a header says: encoded words are decoded, white space is a single space."""
    try:
        pieces = decode_header(written)
        words = "".join(piece if isinstance(piece, str) else _in(piece, charset) for piece, charset in pieces)
    except (MessageError, ValueError):
        words = written
    return " ".join(storable(words).split())


def _in(piece: bytes, charset: str | None) -> str:
    try:
        return piece.decode(charset or "latin-1", "replace")
    except (LookupError, ValueError):
        return piece.decode("latin-1")


def _said(read: Callable[[], object]) -> str:
    """Return what a header's parameter says, "" where it is missing or nothing that the email package can read."""
    try:
        said = read()
    except (ValueError, LookupError, TypeError):
        return ""
    return "" if said is None else str(said)


def _file_name(headers: Message) -> str:
    return _words(re.split(r"[/\\]", _said(headers.get_filename))[-1])[:200]


def _decoded(headers: Message, body: bytes) -> bytes:
    """Return the bytes of a part without its transfer encoding; what is broken stays as it is."""
    part = Message(compat32)
    part["Content-Transfer-Encoding"] = str(headers.get("Content-Transfer-Encoding", ""))
    part.set_payload(body.decode("ascii", "surrogateescape"))
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else body


def _cut(headers: Message, body: bytes, most: int) -> Iterator[bytes]:
    """Yield the parts between the lines that the boundary marks, ``most`` at most."""
    boundary = _said(headers.get_boundary).encode("utf-8", "replace")
    if not boundary:
        return
    line = re.compile(rb"(?:\A|\n)--" + re.escape(boundary) + rb"(--)?[ \t]*\r?(?=\n|\Z)")
    start: int | None = None
    for found in line.finditer(body):
        if start is not None:
            yield body[start : found.start()].removesuffix(b"\r")
            most -= 1
        start = None if found[1] else found.end() + 1
        if most <= 0 or start is None:
            return
    if start is not None:
        yield body[start:]
