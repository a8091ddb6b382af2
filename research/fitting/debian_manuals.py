"""Lay out the manuals that ``research/data/manual_questions.jsonl`` asks about, from Debian's packages.

``python -m research.fitting.debian_manuals --out FOLDER`` fetches the packages with apt, on Debian 12 or a system with
its sources, unpacks them and copies the pages; the questions come beside them, so that the folder is a set of manuals
like any other (``citewell eval run manuals --path FOLDER``). The manuals have licences of their own, which the packages
carry; nothing of them is in this repository but the passages that the questions quote.
"""

import argparse
import gzip
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from graph.errors import UnreadableDocument
from tools.parsers import parse

QUESTIONS = Path(__file__).parent.parent / "data" / "manual_questions.jsonl"


class Manual(NamedTuple):
    """A manual's folder, its package, the folder in the package, and which of its files are read."""

    folder: str
    package: str
    root: str
    patterns: tuple[str, ...]


_DOC = "usr/share/doc"
MANUALS = (
    Manual("postfix", "postfix-doc", f"{_DOC}/postfix/html", ("*.html",)),
    Manual("git", "git-doc", f"{_DOC}/git/html", ("git*.html",)),
    Manual("sqlite", "sqlite3-doc", f"{_DOC}/sqlite3", ("*.html",)),
    Manual("exim", "exim4-doc-html", f"{_DOC}/exim4-doc-html/spec_html", ("*.html",)),
    Manual(
        "celery",
        "python-celery-doc",
        f"{_DOC}/python-celery-doc/html/_sources",
        ("userguide/*.rst.txt", "getting-started/**/*.rst.txt", "faq.rst.txt"),
    ),
    Manual("install-vi", "installation-guide-amd64", f"{_DOC}/installation-guide-amd64/vi", ("*.html",)),
    Manual("install-zh", "installation-guide-amd64", f"{_DOC}/installation-guide-amd64/zh_CN", ("*.html",)),
    Manual("maint-guide-vi", "maint-guide-vi", f"{_DOC}/maint-guide-vi/html", ("*.html",)),
    Manual("maint-guide-zh", "maint-guide-zh-cn", f"{_DOC}/maint-guide-zh-cn/html", ("*.html",)),
    Manual("reference-zh", "debian-reference-zh-cn", "usr/share/debian-reference", ("*.html",)),
    Manual("libreoffice-vi", "libreoffice-help-vi", "usr/share/libreoffice/help/vi/text", ("s*/guide/*.html",)),
    Manual("libreoffice-zh", "libreoffice-help-zh-cn", "usr/share/libreoffice/help/zh-CN/text", ("s*/guide/*.html",)),
    Manual("libreoffice2-vi", "libreoffice-help-vi", "usr/share/libreoffice/help/vi/text", ("s*/0*/*.html",)),
    Manual("libreoffice2-zh", "libreoffice-help-zh-cn", "usr/share/libreoffice/help/zh-CN/text", ("s*/0*/*.html",)),
    Manual("pdf", "bash-doc", f"{_DOC}/bash", ("bashref.pdf",)),
    Manual("pdf", "graphviz-doc", f"{_DOC}/graphviz/pdf", ("dotguide.pdf.gz", "libguide.pdf.gz")),
    Manual(
        "python",
        "python3.11-doc",
        f"{_DOC}/python3.11/html",
        ("library/*.html", "howto/*.html", "faq/*.html", "using/*.html"),
    ),
    Manual("apache", "apache2-doc", f"{_DOC}/apache2-doc/manual", ("en/**/*.html",)),
    Manual("vim", "vim-doc", f"{_DOC}/vim/html", ("*.html",)),
    Manual("maxima", "maxima-doc", f"{_DOC}/maxima-doc/html", ("*.html",)),
)


def lay_out(unpacked: Path, out: Path) -> None:
    """Copy the pages of unpacked packages, one folder a package, below ``out``, and the questions beside them."""
    for manual in MANUALS:
        root = unpacked / manual.package / manual.root
        for file in sorted({found for pattern in manual.patterns for found in root.glob(pattern) if found.is_file()}):
            name = file.relative_to(root).as_posix().replace(".rst.txt", ".rst").removesuffix(".gz")
            data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            try:
                parse(data, name=name)
            except UnreadableDocument:
                continue  # a page or two in a charset that it does not name
            place = out / manual.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    shutil.copy(QUESTIONS, out / "questions.jsonl")


def main() -> None:
    """Fetch, unpack and lay out."""
    parser = argparse.ArgumentParser(description="Lay out the manuals that our training questions are about.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")
    options = parser.parse_args()
    packages = sorted({manual.package for manual in MANUALS})
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "download", *packages], cwd=folder, check=True)
        for archive in Path(folder).glob("*.deb"):
            package = archive.name.partition("_")[0]
            subprocess.run(["dpkg-deb", "-x", archive.name, package], cwd=folder, check=True)
        lay_out(Path(folder), options.out)


if __name__ == "__main__":
    main()
