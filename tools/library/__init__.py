"""Documents: ingestion and its jobs, listing, passages, and what is found on the web and stored for a time."""
