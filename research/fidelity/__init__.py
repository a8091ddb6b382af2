"""How faithfully files are read: the product's reading of them beside those of independent readers."""
