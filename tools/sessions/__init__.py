"""Conversations: sessions, messages, branches, titles, checkpoints and expiry."""
