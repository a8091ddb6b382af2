"""The web: search through an endpoint, and pages and sites fetched behind one guard."""
