-- Documents are found by their space.
--
-- A search within a space begins with its documents, by the id or the slug that its client has of it.
CREATE INDEX documents_of_space ON documents (workspace, space_id) WHERE deleted_at IS NULL AND space_id IS NOT NULL;
CREATE INDEX documents_of_space_slug ON documents (workspace, space_slug) WHERE deleted_at IS NULL AND space_slug IS NOT NULL;
