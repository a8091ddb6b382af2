"""Backends that answer questions, selected by model name."""
