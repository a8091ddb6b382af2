"""Documents: ingestion, listing, passages, and the freshness of citations."""
