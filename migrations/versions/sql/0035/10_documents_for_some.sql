-- Index what not everybody may read, so that a word of it is not taken for one that all may know.
--
-- What not everybody may read, of which most workspaces have nothing: whether somebody may read all is told at once.
CREATE INDEX documents_for_some ON documents (workspace)
    WHERE (owner IS NOT NULL OR readers IS NOT NULL) AND NOT coalesce(readers @> '{everyone}', false) AND deleted_at IS NULL AND expires_at IS NULL;
