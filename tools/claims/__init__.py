"""Decide by code what cited text proves of each sentence of an answer."""
