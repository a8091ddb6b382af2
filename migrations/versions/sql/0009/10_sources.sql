-- Add sources that the library is kept in step with, the places of documents in them, and the likeness of texts.
--
-- Where documents come from and are kept in step with: folders, git repositories, sites, buckets.

CREATE TABLE sources (
    workspace  integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    source_id  uuid NOT NULL,
    owner      text,
    kind       text NOT NULL CHECK (kind IN ('folder', 'git', 'site', 's3')),
    location   text NOT NULL,
    options    jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    synced_at  timestamptz,
    report     jsonb,
    PRIMARY KEY (workspace, source_id)
);
COMMENT ON COLUMN sources.owner IS 'the only user who may read it and its documents; null for the whole workspace';
COMMENT ON COLUMN sources.synced_at IS 'when it was last listed and followed: every place of it was there then';
COMMENT ON COLUMN sources.report IS 'what the last sync did';
-- One record for each place that somebody keeps in step.
CREATE UNIQUE INDEX sources_by_location ON sources
    (workspace, kind, location, (options ->> 'folder'), (options ->> 'ref'), owner) NULLS NOT DISTINCT;

CREATE TABLE places (
    workspace    integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    source_id    uuid NOT NULL,
    path         text NOT NULL,
    document_id  uuid,
    fingerprint  text NOT NULL,
    content_hash text,
    recipe       text NOT NULL,
    trouble      text,
    read_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, source_id, path),
    FOREIGN KEY (workspace, source_id) REFERENCES sources ON DELETE CASCADE,
    FOREIGN KEY (workspace, document_id) REFERENCES documents ON DELETE CASCADE
);
COMMENT ON COLUMN places.document_id IS 'null where its file could never be read';
COMMENT ON COLUMN places.fingerprint IS 'tells cheaply whether the file may have changed: size and times, entity tag, blob';
COMMENT ON COLUMN places.content_hash IS 'of the bytes of the file; null where they could not be read';
COMMENT ON COLUMN places.recipe IS 'tells whether the file would be read and described as it was';
COMMENT ON COLUMN places.trouble IS 'why the file could not be read; its document is then of an earlier version';
CREATE INDEX places_of_document ON places (workspace, document_id);
