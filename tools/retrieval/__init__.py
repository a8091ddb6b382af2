"""The library's segments: cut, indexed, found by words and vectors, and read by id as far as the reader may."""
