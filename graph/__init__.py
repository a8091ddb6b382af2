"""The graph's vocabulary and wiring. This package imports nothing by itself."""
