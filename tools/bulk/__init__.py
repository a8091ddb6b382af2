"""Bulk work on a cluster of Ray: ingestion of paths, and embedding a library again. Needs the extra `ray`."""
