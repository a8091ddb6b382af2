"""What other installed distributions add to Citewell."""
