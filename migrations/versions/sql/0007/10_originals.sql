-- Add the originals of documents: the files that their texts were read from.
--
-- The files that documents were read from, by the hash of their bytes. Each workspace has its own, so that nobody learns
-- from a hash what another workspace holds. Null where a document was given as text, or was ingested before; ingesting
-- it again adds it.

ALTER TABLE documents
    ADD COLUMN original_sha256 text,
    ADD COLUMN original_size bigint,
    ADD COLUMN original_media_type text,
    ADD COLUMN original_name text;
CREATE INDEX documents_original ON documents (workspace, original_sha256) WHERE original_sha256 IS NOT NULL;

CREATE TABLE originals (
    workspace integer NOT NULL REFERENCES workspaces (number) ON DELETE CASCADE,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    place text NOT NULL,
    staged_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, sha256)
);
COMMENT ON COLUMN originals.place IS 'where the bytes are: postgresql, a folder, or an s3:// address';
COMMENT ON COLUMN originals.staged_until IS 'set while the bytes are stored outside and no document refers to them yet';

CREATE TABLE original_chunks (
    workspace integer NOT NULL,
    sha256 text NOT NULL,
    number integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (workspace, sha256, number),
    FOREIGN KEY (workspace, sha256) REFERENCES originals (workspace, sha256) ON DELETE CASCADE
);
COMMENT ON TABLE original_chunks IS 'pieces of 256 KiB, so that a range is read without the rest';
