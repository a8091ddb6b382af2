"""Originals: the files that documents were read from, kept by the hash of their bytes."""
