"""Alembic environment that uses the connection passed by ``migrations.upgrade``, without an alembic.ini."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], target_metadata=None, transaction_per_migration=True
)
with context.begin_transaction():
    context.run_migrations()
