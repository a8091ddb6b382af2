"""Versions of documents keep who could read their text and its space; titles that are asked for are charged."""

from migrations import run_sql_folder

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
