"""The gate: the golden set by both families, held to committed thresholds and a baseline."""
