"""Keep the shares of sessions and answers, by the hashes of the tokens that open them."""

from migrations import run_sql_folder

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
