"""Conversations: sessions, messages, branches, titles, checkpoints, and their expiry."""
