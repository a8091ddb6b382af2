"""The gate: both families on the golden set, against committed thresholds and a baseline."""
