"""Pure rules of text, each stated once."""
