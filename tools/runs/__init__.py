"""Durable runs: the ledger, the committed event log, leases, and notifications between processes."""
