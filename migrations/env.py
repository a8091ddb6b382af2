"""How Alembic reaches the database: over the connection that ``migrations.upgrade`` hands it, without alembic.ini."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], target_metadata=None, transaction_per_migration=True
)
with context.begin_transaction():
    context.run_migrations()
