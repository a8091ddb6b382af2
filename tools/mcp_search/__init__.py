"""MCP servers as search sources beside the web."""
