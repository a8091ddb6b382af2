"""Add impact keys, by which the segments that say most of a common term are found; old segments get theirs later."""

from migrations import run_sql_folder

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
