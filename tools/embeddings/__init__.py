"""Embedding models, and moving a library from one to another."""
