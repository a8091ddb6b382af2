"""Wire formats: a folder each, and what several of them share."""
