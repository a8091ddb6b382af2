"""Plugins: what other installed distributions add to Citewell."""
