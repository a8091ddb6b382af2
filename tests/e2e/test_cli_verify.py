"""``citewell verify`` in a pipe: files or the library, for people and for programs."""

import json

import pytest

from cli.command import Exit
from tests.e2e.conftest import Home, Writer

KILN = "# Kiln\n\nThe kiln is fired on Fridays. Nobody opens it before it has cooled for 36 hours.\n"
RIGHT = "The kiln is fired on Fridays [1]."
WRONG = "Nobody opens it before it has cooled for 12 hours [1]."


def test_a_piped_text_is_verified_against_a_file_without_a_database(home: Home, write: Writer) -> None:
    write("verify/kiln.md", KILN)
    done = home.process(
        *("verify", "--source", "verify/kiln.md", "--strict"),
        piped=f"{RIGHT} {WRONG}",
        CITEWELL_DATABASE_URL="postgresql://[::1]:9/x",
    )
    assert done.code == Exit.CLAIM_FAILED == 1
    assert done.out.splitlines() == [
        f"= {RIGHT}",
        "    quoted",
        "      “The kiln is fired on Fridays.”",
        "      verify/kiln.md > Kiln, characters 8–37",
        f"? {WRONG}",
        '    unverified · it is a source sentence, but has "12" for "36"',
        "      “Nobody opens it before it has cooled for 36 hours.”",
        "      verify/kiln.md > Kiln, characters 38–88",
    ]
    assert done.err == "2 claims: 1 quoted, 1 unverified.\n"


def test_what_is_right_ends_with_0_and_is_one_document_for_programs(home: Home, write: Writer) -> None:
    write("verify/kiln.md", KILN)
    text = write("verify/answer.md", f"{RIGHT} In 1961, dogs.\n\nThe kiln is fired on Fridays. [2]")
    done = home.citewell("verify", str(text), "--source", "verify/kiln.md", "--no-judge", "--json")
    claims = done.json["claims"]
    assert done.json["totals"]["supported"] == 2
    assert [claim["cited_ok"] for claim in claims if claim["cited"]] == [True, False]
    for claim in claims:
        assert text.read_text(encoding="utf-8")[claim["start"] : claim["end"]] == claim["text"]
    only = home.citewell("verify", "-", "--source", "verify/kiln.md", "--json", piped=RIGHT)
    assert (only.code, only.json["judge"]) == (Exit.OK, None)
    assert home.citewell("verify", "--source", "verify/kiln.md", piped="The kiln is fired on Fridays. [2]").out.count(
        "[2] names no source"
    )


def test_without_files_the_library_is_searched(home: Home, write: Writer) -> None:
    write("verify-library/kiln.md", KILN)
    assert home.citewell("ingest", "verify-library", "-w", "verify").code == Exit.OK
    for options in ((), ("--library",)):
        done = home.citewell("verify", *options, "-w", "verify", "--json", piped="The kiln is fired on Fridays.")
        assert done.code == Exit.OK
        ((quote,),) = (claim["citations"] for claim in done.json["claims"])
        raw = home.citewell("documents", "raw", quote["document_id"], "-w", "verify").out
        assert raw[quote["start"] : quote["end"]] == quote["quote"] == "The kiln is fired on Fridays."


def test_a_list_of_claims_is_verified_line_by_line_and_strictly_where_asked(home: Home, write: Writer) -> None:
    write("verify/kiln.md", KILN)
    said = "The kiln is fired on Fridays."
    lines = [said, "", json.dumps({"claim": said, "id": 7}), json.dumps(said), "Firing of the kiln is for Fridays."]
    listed = write("verify/claims.txt", "\n".join(lines))
    arguments = ("verify", "--claims", str(listed), "--source", "verify/kiln.md", "--no-judge", "--json")
    done = home.citewell(*arguments)
    assert [claim["text"] for claim in done.json["claims"]] == [said, said, said, lines[-1]]
    assert (done.code, done.json["passed"], done.json["totals"]["unverified"]) == (Exit.OK, True, 1)
    strictly = home.citewell(*arguments, "--strict")
    assert (strictly.code, strictly.json["passed"]) == (Exit.CLAIM_FAILED, False)
    piped = home.citewell("verify", "--claims", "-", "--source", "verify/kiln.md", "--json", piped=said)
    assert [claim["verdict"] for claim in piped.json["claims"]] == ["supported"]


@pytest.mark.parametrize(
    ("arguments", "piped", "code", "told"),
    [
        (["--source", "nowhere.md"], RIGHT, Exit.USAGE, "--source: nowhere.md can't be read"),
        (["nowhere.md"], "", Exit.USAGE, "FILE: nowhere.md can't be read"),
        (["--source", "verify/kiln.md", "--library"], RIGHT, Exit.USAGE, "--library: "),
        (["--source", "verify/kiln.md", "--space", "x"], RIGHT, Exit.USAGE, "--space: "),
        (["--source", "verify/kiln.md"], " ", Exit.USAGE, "answer: a blank text"),
        (["--source", "verify/kiln.md", "--model", "nobody"], RIGHT, Exit.USAGE, "is named 'nobody'"),
        (["--source", "verify/broken.pdf"], RIGHT, Exit.REFUSED, ""),
        (["--claims", "nowhere.txt"], "", Exit.USAGE, "--claims: nowhere.txt can't be read"),
        (["--claims", "-", "--source", "verify/kiln.md"], "x\n{1", Exit.USAGE, "--claims: line 2 is not JSON"),
        (["--claims", "-", "--source", "verify/kiln.md"], '{"text": "x"}', Exit.USAGE, "--claims: line 1 has no text"),
        (["answer.md", "--claims", "-"], "x", Exit.USAGE, "--claims: FILE"),
    ],
)
def test_what_cannot_be_verified_is_told(
    home: Home, write: Writer, arguments: list[str], piped: str, code: Exit, told: str
) -> None:
    write("verify/kiln.md", KILN)
    write("verify/broken.pdf", "%PDF-1.7 broken")
    done = home.citewell("verify", *arguments, "--json", piped=piped)
    assert done.code == code, done.out
    error = json.loads(done.out)["error"]
    assert told in error["message"]
    assert error["suggestion"]
