"""The process that serves parses no file of a stranger's: none of what could is even loaded by it."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

DOCUMENTS = Path(__file__).parents[1] / "fixtures/documents"
ONE_OF_EACH = [
    "handbook.docx", "talk.pptx", "prices.xlsx", "handbook.odt", "talk.odp", "prices.ods", "lamps.epub", "lamps.rtf",
    "answer.eml", "hours.ipynb", "lamps.adoc", "lamps.org", "lamps.tex", "settings.json", "bundle.zip", "locked.docx",
]  # fmt: skip
PUBLISHED = ["lamp_log_pod.html", "lamps_chromium.pdf"]


async def test_the_process_that_serves_loads_no_parser(database_url: str, tmp_path: Path) -> None:
    files = [DOCUMENTS / name for name in ONE_OF_EACH] + [DOCUMENTS.parent / "published" / name for name in PUBLISHED]
    (tmp_path / "roots").mkdir()
    for name in ("guide.docx", "bundle.zip", "contents.odt"):
        shutil.copy(DOCUMENTS / name, tmp_path / "roots")
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.api.viewing_program", database_url, str(tmp_path), *map(str, files)),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await program.communicate()
    found = json.loads(out)
    assert found["loaded"] == []
    shown = found["shown"]
    for name in (*ONE_OF_EACH[:-2], *PUBLISHED, "page"):
        assert shown[name].pop("/pictures/0") in (200, 404), name
        assert shown[name].pop("stored") == 201, shown[name]
        assert set(shown[name].values()) == {200}, (name, shown[name])
    assert shown["bundle.zip"]["said"]["status"] == "unpacked"
    assert shown["locked.docx"]["stored"] == 422
    assert [shown[kind]["counts"]["unreadable"] for kind in ("folder", "site", "sitemap")] == [1, 0, 0]
    assert shown["answer"] == {"asked": 200, "exported": 200}
