"""The manual's table of errors is the code's. ``UPDATE_DOCS=1 pytest`` writes it anew."""

import os
import re
from pathlib import Path

from api.problems import BY_CODE, ERROR_TABLE
from cli import command
from graph.errors import CitewellError, InvalidRequest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
HTTP_ONLY = {"request_too_large", "not_ready"}
OTHER_STATUSES = "400, 403, 405, 408, 409, 415, 431"  # that HTTP or a single route requires


def error_table_markdown() -> str:
    """Return the table as Markdown, for the manual."""
    rows = ["| Code | Status | Message | Suggestion | Retryable |", "|---|---|---|---|---|"]
    for kind in ERROR_TABLE:
        others = f", also {OTHER_STATUSES}" if kind.error is InvalidRequest else ""
        retry = "yes" if kind.retryable else "no"
        rows.append(f"| `{kind.code}` | {kind.status}{others} | {kind.meaning} | {kind.suggestion} | {retry} |")
    return "\n".join(rows)


def test_the_manual_shows_the_table_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    block = f"<!-- errors:begin -->\n{error_table_markdown()}\n<!-- errors:end -->"
    written = re.sub(r"<!-- errors:begin -->.*<!-- errors:end -->", lambda _: block, text, flags=re.DOTALL)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(written, encoding="utf-8")
    assert written == text or os.environ.get("UPDATE_DOCS")


def test_every_kind_of_error_has_a_row_a_status_and_an_exit_code() -> None:
    def codes(kind: type[CitewellError]) -> set[str]:
        return {kind.code}.union(*map(codes, kind.__subclasses__()))

    assert codes(CitewellError) == set(BY_CODE)
    assert len(BY_CODE) == len(ERROR_TABLE)
    assert set(command.BY_CODE) == set(BY_CODE) - HTTP_ONLY


def test_the_table_is_sorted_by_status_and_code() -> None:
    assert list(ERROR_TABLE) == sorted(ERROR_TABLE, key=lambda kind: (kind.status, kind.code))


def test_what_may_be_sent_again_has_a_status_that_says_so() -> None:
    for kind in ERROR_TABLE:
        assert kind.retryable <= (kind.status in (409, 429, 502, 503)), kind.code
        assert kind.suggestion.endswith("."), kind.code
