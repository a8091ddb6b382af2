"""Wire formats: one folder for each, and the modules that several share."""
