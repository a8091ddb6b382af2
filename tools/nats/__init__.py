"""Notifications by a server of NATS."""
