"""PostgreSQL: connections, the embedded server, workspaces and the tables that hold them."""
