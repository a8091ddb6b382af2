"""Store notes: what somebody pinned with its proof, and what they say of it."""

from migrations import run_sql_folder

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
