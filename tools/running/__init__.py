"""What keeps runs durable: the ledger, the committed log, leases, and what processes tell each other of runs."""
