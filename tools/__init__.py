"""Everything that does I/O or computes for the graph: database, models, documents, search."""
