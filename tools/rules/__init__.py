"""Rules without a model, shared by all backends; model backends fall back on them."""
