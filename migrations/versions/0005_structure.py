"""Add the structure of segments: their blocks, and what those hang on."""

from migrations import run_sql_folder

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
