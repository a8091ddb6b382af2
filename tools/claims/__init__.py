"""Check by code what the cited text proves of each sentence of an answer."""
