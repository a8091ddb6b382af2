"""The library's segments: stored in a partition for each workspace, found by words and vectors, read by id."""
