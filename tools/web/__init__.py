"""The web as a second library: searched through an endpoint, read behind a guard, stored for a time."""
