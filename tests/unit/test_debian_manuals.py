"""The layout of the manuals that training questions are about, from unpacked packages."""

import gzip
import json
from pathlib import Path

from research.fitting.debian_manuals import MANUALS, QUESTIONS, lay_out


def test_pages_are_copied_below_their_folder_and_unreadable_ones_left_out(tmp_path: Path) -> None:
    unpacked, out = tmp_path / "unpacked", tmp_path / "out"
    postfix = unpacked / "postfix-doc" / "usr/share/doc/postfix/html"
    celery = unpacked / "python-celery-doc" / "usr/share/doc/python-celery-doc/html/_sources/userguide"
    graphs = unpacked / "graphviz-doc" / "usr/share/doc/graphviz/pdf"
    for folder in (postfix, celery, graphs):
        folder.mkdir(parents=True)
    (postfix / "postconf.5.html").write_text("<p>A page.</p>")
    (postfix / "broken.html").write_bytes(b"\x00\x01\x02\xff")
    (celery / "tasks.rst.txt").write_text("Tasks\n=====\n\nText.\n")
    (graphs / "dotguide.pdf.gz").write_bytes(gzip.compress(b"no PDF"))
    lay_out(unpacked, out)
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {"postfix/postconf.5.html", "celery/userguide/tasks.rst", "questions.jsonl"}


def test_every_question_is_about_a_manual_that_is_laid_out() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    folders = {manual.folder for manual in MANUALS}
    assert len({row["id"] for row in rows}) == len(rows)
    assert {each["file"].partition("/")[0] for row in rows for each in row["evidence"]} <= folders
    assert all(bool(row["evidence"]) == bool(row["answers"]) for row in rows)
