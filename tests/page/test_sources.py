"""What may not stand in a file of the page, whatever the browser would make of it; and that all of them are shipped."""

import re
from pathlib import Path

from api.static_files import BUNDLE_FOLDER, PAGE_FOLDER
from tests.page.wire_types import WIRE_TYPES

ROOT = Path(__file__).parents[2]
VENDOR = PAGE_FOLDER / "vendor"  # which others wrote
PDF = VENDOR / "pdf"  # which makes no markup of ours, runs under the page's policy, and is served as it is
FILES = sorted(path for path in PAGE_FOLDER.rglob("*") if path.is_file() and VENDOR not in path.parents)
MADE = [WIRE_TYPES, *PAGE_FOLDER.rglob("catalogue.d.ts")]
TEXTS = [path for path in FILES if path.suffix != ".png" and path not in MADE]
BUILT = sorted(path for path in [*VENDOR.glob("*.js"), *BUNDLE_FOLDER.iterdir()] if path.suffix != ".png")
MOST_LINES = 300
# Whatever turns a string into markup, code or style; but for the one import of the window in other people's pages.
FORBIDDEN = re.compile(
    r"""innerHTML|outerHTML|insertAdjacentHTML|(?:set|parse)HTML|DOMParser|createContextualFragment|srcdoc"""
    r"""|document\.write|\beval\b|new\s+Function|\bFunction\(|set(?:Timeout|Interval)\(\s*["'`]|cssText"""
    r"""|\bstyle\s*=\s*["']|setAttribute\(\s*["'](?:style|on)"""
    r"""|\bimport\s*\(\s*(?!new URL\("page/\{version\}/embed_markup\.js")[^"'\s]"""
)
ELSEWHERE = re.compile(r"""(?:https?|wss?|ftp):\/\/[^\s"'`)]*|["'(`]\/\/[\w.-]+\.\w""")
SVG = "http://www.w3.org/2000/svg"
MATHML = "http://www.w3.org/1998/Math/MathML"


def faults(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    elsewhere = [found for found in ELSEWHERE.findall(text) if found not in (SVG, MATHML)]
    return [
        *FORBIDDEN.findall(text),
        *elsewhere,
        *([f"over {MOST_LINES} lines"] if text.count("\n") > MOST_LINES and path.suffix != ".json" else []),
    ]


def test_the_files_of_the_page_are_short_and_plain() -> None:
    found = {str(path.relative_to(PAGE_FOLDER)): faults(path) for path in TEXTS}
    assert len(found) > 100
    assert {path: each for path, each in found.items() if each} == {}


def test_what_is_bundled_makes_no_markup_either() -> None:
    found = {path.name: FORBIDDEN.findall(path.read_text("utf-8")) for path in BUILT}
    assert len(found) > 20
    assert {name: each for name, each in found.items() if each} == {}


def test_pdf_js_evaluates_no_text() -> None:
    """Hold what of PDF.js is served to what its policy allows: neither code made of text nor WebAssembly is needed."""
    for path in PDF.rglob("*.js"):
        text = path.read_text("utf-8")
        assert re.findall(r"\beval\(|new Function|insertAdjacentHTML|document\.write", text) == [], path
    assert "worker.js" in {path.name for path in PDF.iterdir()}
    assert "Apache License" in (PDF / "LICENSES.txt").read_text("utf-8")


def test_an_installation_has_every_file_of_the_page() -> None:
    from hatchling.builders.wheel import WheelBuilder

    shipped = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    vendored = [path for path in VENDOR.rglob("*") if path.is_file()]
    assert {str(path.relative_to(ROOT)) for path in (*FILES, *vendored)} <= shipped
