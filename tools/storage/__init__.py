"""PostgreSQL: connections, the embedded server, tenants and health."""
