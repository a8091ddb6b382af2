"""Embedding models, and reindexing a library from one to another."""
