"""Terminal rendering of live runs, citations and conversations."""
