-- People name sets of documents, and a title that a person gave stays when the document is read anew.
--
-- Sets of documents that people name: tools/library/document_collections.py, docs/adr/0051.
CREATE TABLE collections (
    workspace     integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    collection_id uuid NOT NULL,
    name          text NOT NULL CHECK (char_length(name) <= 200),
    made_by       text NOT NULL,
    shared        boolean NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, collection_id)
);
COMMENT ON COLUMN collections.made_by IS 'the user who renames, shares and deletes it';
COMMENT ON COLUMN collections.shared IS 'with the workspace: all see it, and whoever writes fills it; else it is its maker''s alone';

CREATE TABLE collection_documents (
    workspace     integer NOT NULL,
    collection_id uuid NOT NULL,
    document_id   uuid NOT NULL,
    added_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, collection_id, document_id),
    FOREIGN KEY (workspace, collection_id) REFERENCES collections ON DELETE CASCADE,
    FOREIGN KEY (workspace, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX collection_documents_of_document ON collection_documents (workspace, document_id);

CREATE TRIGGER guarded BEFORE INSERT OR UPDATE OR DELETE ON collections
    FOR EACH ROW EXECUTE FUNCTION guard_workspace();
CREATE TRIGGER guarded BEFORE INSERT OR UPDATE OR DELETE ON collection_documents
    FOR EACH ROW EXECUTE FUNCTION guard_workspace();

ALTER TABLE sessions ADD COLUMN selected_collection_ids jsonb NOT NULL DEFAULT '[]';

ALTER TABLE documents ADD COLUMN renamed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN documents.renamed IS 'a person gave its title: that of its file does not replace it';
