"""The extractive backend: answers in quotes, without a model, a key or a network."""
