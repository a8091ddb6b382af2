"""Fit the models of the extractive backend and of the score."""
