"""Notes: answers and passages that somebody keeps with their proof."""
