"""The web as a second library: search through an endpoint, guarded page fetching, temporary storage."""
