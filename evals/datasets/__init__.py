"""Readers of public data sets, each by the path of a file; none of their text is kept in the project."""
