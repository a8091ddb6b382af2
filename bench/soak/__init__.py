"""The soak: a deployment under load for an hour while things go wrong, and proof that nothing was lost or doubled."""
