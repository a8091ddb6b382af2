"""Terminal rendering of runs as they happen, citations and conversations."""
