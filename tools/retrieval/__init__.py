"""The library's segments: stored in one partition per workspace, found by words and vectors, read by id."""
