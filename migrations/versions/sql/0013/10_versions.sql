-- Add the versions of documents: replaced texts that are kept for a while, with who replaced them and when.
ALTER TABLE documents ADD COLUMN version integer NOT NULL DEFAULT 1, ADD COLUMN changed_by text;
COMMENT ON COLUMN documents.version IS 'counts the texts that it has had';
COMMENT ON COLUMN documents.changed_by IS 'the user who stored this text; null where it was stored before this was kept';

CREATE TABLE document_versions (
    workspace       integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    document_id     uuid NOT NULL,
    version         integer NOT NULL,
    title           text NOT NULL,
    owner           text,
    fields          jsonb NOT NULL,
    content_hash    text NOT NULL,
    original_sha256 text,
    segments        jsonb NOT NULL,
    changed_at      timestamptz NOT NULL,
    changed_by      text,
    replaced_at     timestamptz NOT NULL DEFAULT now(),
    replaced_by     text NOT NULL,
    PRIMARY KEY (workspace, document_id, version),
    FOREIGN KEY (workspace, document_id) REFERENCES documents ON DELETE CASCADE
);
COMMENT ON TABLE document_versions IS 'texts that were replaced, as tools/library/versions.py lays them out; they go with their document';
CREATE INDEX document_versions_expiring ON document_versions (replaced_at);
CREATE INDEX document_versions_originals ON document_versions (workspace, original_sha256) WHERE original_sha256 IS NOT NULL;
