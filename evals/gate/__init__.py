"""The gate: the golden set by two families, judged by thresholds and by what was measured when they were committed."""
