-- Add the state of an index outside of PostgreSQL, and the queue of documents that it lags behind by.
--
-- An index outside of PostgreSQL that names candidates to a search. Without a row there is none, and nothing is queued.
CREATE TABLE search_index (
    only_one   boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    engine     text NOT NULL CHECK (engine IN ('milvus')),
    prefix     text NOT NULL,
    library    text NOT NULL DEFAULT left(md5(gen_random_uuid()::text), 8),
    generation integer NOT NULL DEFAULT 1,
    dimension  integer NOT NULL,
    state      text NOT NULL DEFAULT 'filling' CHECK (state IN ('filling', 'serving')),
    began_at   timestamptz NOT NULL DEFAULT now(),
    filled_at  timestamptz,
    compared_at timestamptz
);
COMMENT ON COLUMN search_index.library IS 'part of the names of its collections, so that two databases that share a server share none';
COMMENT ON COLUMN search_index.generation IS 'another collection for vectors of another model';
COMMENT ON COLUMN search_index.compared_at IS 'when all that it holds was last compared with the library';

-- Written in the transaction that changes the segments, deleted once the index has followed.
CREATE TABLE index_changes (
    change      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace   integer NOT NULL,
    document_id uuid,
    is_refill   boolean NOT NULL DEFAULT false,
    changed_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE index_changes IS 'rows are only added, so that no ingestion waits for a worker that holds one; they outlive their workspace, for its rows in the index have to go';
COMMENT ON COLUMN index_changes.document_id IS 'null for a workspace that was deleted';
COMMENT ON COLUMN index_changes.is_refill IS 'queued to fill or to repair the index, behind what has just changed';
CREATE INDEX index_changes_order ON index_changes (is_refill, change);
CREATE INDEX index_changes_of_workspace ON index_changes (workspace, change DESC) WHERE NOT is_refill;
