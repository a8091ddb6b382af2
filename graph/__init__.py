"""The vocabulary of Citewell and the wiring of its graph. This package imports nothing by itself."""
