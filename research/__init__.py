"""Fitting and measurements of single parts: ``python -m research``. Not in the wheel."""
