"""Places note the document that a sync has stored for them before it is theirs."""

from migrations import run_sql_folder

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
