"""Moves of workspaces to another database."""
