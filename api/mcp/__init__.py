"""The Model Context Protocol: search, read, ask and verify as tools, and documents as resources."""
