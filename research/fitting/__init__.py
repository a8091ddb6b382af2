"""Fitting of the extractive family's models, the calibrated score and the estimate of support."""
