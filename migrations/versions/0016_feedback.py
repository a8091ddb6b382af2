"""Keep what readers say of an answer: up or down, why, and which of its claims they mean."""

from migrations import run_sql_folder

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
