"""Large workspaces have further tables, each with a part of their segments; what is there stays where it is."""

from migrations import run_sql_folder

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
