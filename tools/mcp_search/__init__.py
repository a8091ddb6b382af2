"""Searches of MCP servers, and what they find."""
