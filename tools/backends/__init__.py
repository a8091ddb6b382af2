"""Backends that answer, chosen by model name."""
