"""How the terminal shows what Citewell does: runs as they happen, citations, tables."""
