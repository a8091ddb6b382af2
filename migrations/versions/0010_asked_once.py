"""Let two requests for the same question of a conversation find that one of them asks it."""

from migrations import run_sql_folder

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
