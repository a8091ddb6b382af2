"""What touches the world: the database, models, documents, search."""
