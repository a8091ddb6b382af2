"""Conversations: sessions, messages, branches, titles, checkpoints, and the freshness of old quotes."""
