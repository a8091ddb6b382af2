"""The gate's sets, read once a process and only where a test asks for them: reading them takes a second."""

from functools import cache

from evals.gate.gate_run import load_gate_data

gate_data = cache(load_gate_data)
