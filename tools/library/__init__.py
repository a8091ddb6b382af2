"""Documents: ingested, listed, cited and kept fresh."""
