"""The title of a document whose caller gives none: its own, and the name of its file only where it has none."""

import pytest

from tests.unit.pdf_files import pdf
from tools.library.new_documents import NewDocument, make_ready
from tools.retrieval.segmenting import SegmentSize

SIZE = SegmentSize.parse("300 tokens")
HEAD = "<html><head><title>Oil lamps &#8212; Lights 2.1 documentation</title></head><body>"


def title_of(name: str, data: bytes) -> str:
    ready, _ = make_ready(NewDocument(name=name, data=data), SIZE, max_bytes=1_000_000)
    return ready.fields.title


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("lamps_v2.md", "# Oil lamps\n\nThey burn.", "Oil lamps"),
        ("lamps_v2.md", "They burn.\n\n## Wicks\n\nTrim them.\n\n# Oil lamps\n\nText.", "Oil lamps"),
        ("lamps_v2.md", "---\ntitle: On lamps\n---\n# Oil lamps\n\nThey burn.", "On lamps"),
        ("lamps_v2.mdx", "import Wick from './wick'\n\n# Oil lamps\n\n<Wick />\n\nThey burn.", "Oil lamps"),
        ("lamps_v2.rst", ".. _lamps:\n\nOil lamps\n=========\n\nThey burn.", "Oil lamps"),
        ("lamps_v2.html", HEAD + "<h1>Oil lamps at sea</h1><p>They burn.</p></body></html>", "Oil lamps at sea"),
        ("lamps_v2.html", HEAD + "<p>They burn.</p></body></html>", "Oil lamps"),
        ("lamps_v2.txt", "\n  Oil lamps\n  =========\n\nThey burn.", "Oil lamps"),
        ("lamps_v2.txt", "=========\r\nOil lamps\r\n=========\r\n\r\nThey burn.", "Oil lamps"),
    ],
)
def test_a_documents_own_title_comes_first(name: str, text: str, title: str) -> None:
    assert title_of(f"docs/{name}", text.encode()) == title


def test_a_pdfs_own_title_comes_first() -> None:
    assert title_of("docs/lamps_v2.pdf", pdf([["They burn all night."]], title="Oil lamps")) == "Oil lamps"
    assert title_of("docs/lamps_v2.pdf", pdf([["They burn all night."]], title="Microsoft Word - x.doc")) == "lamps_v2"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("biology_notes-v2.md", "Cells divide every day.\n\nThey do."),
        ("biology_notes-v2.rst", "Cells divide every day."),
        ("biology_notes-v2.html", "<html><head><title> </title></head><body><p>Cells divide.</p></body></html>"),
        ("biology_notes-v2.txt", "Cells divide every day.\nThey do.\n\n----\n\nMore."),
        ("biology_notes-v2.txt", "----\nCells divide every day.\nThey do.\n----\n"),
        ("biology_notes-v2.csv", "Cell,Size\nskin,3\nbone,5\n"),
        ("biology_notes-v2.json", '{"text": "Cells divide every day."}'),
    ],
)
def test_a_file_that_has_none_keeps_its_name_as_it_is_written(name: str, text: str) -> None:
    assert title_of(f"docs/{name}", text.encode()) == "biology_notes-v2"


def test_a_text_without_a_name_has_its_first_words() -> None:
    told = NewDocument(text="Oil lamps burn all night.\nMore of them later.")
    ready, _ = make_ready(told, SIZE, max_bytes=1_000_000)
    assert ready.fields.title == "Oil lamps burn all night."
