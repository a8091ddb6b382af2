"""Readings from a standby of the database."""
