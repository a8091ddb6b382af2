-- The library: segments with all that search reads, a partition for each workspace, and what is counted of their terms.
-- Partitions are made and dropped by tools/storage/partitions.py.

CREATE TABLE segments (
    workspace     integer NOT NULL,
    segment_index integer NOT NULL CHECK (segment_index >= 0),
    document_id   uuid NOT NULL,
    start_offset  integer NOT NULL CHECK (start_offset >= 0),
    end_offset    integer NOT NULL,
    page_idx      integer CHECK (page_idx >= 0),
    tokens        integer NOT NULL,
    weights       sparsevec(1000000000) NOT NULL,
    terms         integer[] NOT NULL,
    heading       text NOT NULL,
    body          text NOT NULL,
    PRIMARY KEY (workspace, document_id, segment_index),
    CHECK (end_offset > start_offset)
) PARTITION BY LIST (workspace);
COMMENT ON TABLE segments IS 'the canonical text of a document is its bodies, joined in order: stored once, and read a segment at a time';
COMMENT ON COLUMN segments.terms IS 'ids of tools/terms.py, ascending: what picks candidates';
COMMENT ON COLUMN segments.weights IS 'the BM25 weight of each term but for the IDF, which belongs to the question: what scores them';
-- Scoring reads the weights of thousands of rows a question, so they stay in the row; the rest may move out.
ALTER TABLE segments ALTER COLUMN weights SET STORAGE MAIN;
ALTER TABLE segments ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE INDEX segments_terms ON segments USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = 1024);

-- Vectors by themselves: read whole, as exact search does, they are a fourth of the pages that segments fill.
CREATE TABLE segment_vectors (
    workspace     integer NOT NULL,
    segment_index integer NOT NULL,
    document_id   uuid NOT NULL,
    embedding     halfvec NOT NULL,
    PRIMARY KEY (workspace, document_id, segment_index)
) PARTITION BY LIST (workspace);
ALTER TABLE segment_vectors ALTER COLUMN embedding SET STORAGE PLAIN;

-- Only common terms are counted here, exactly; of any other the index on terms tells the number at once.
CREATE TABLE term_statistics (
    workspace integer NOT NULL,
    term      integer NOT NULL,
    segments  integer NOT NULL CHECK (segments >= 0),
    PRIMARY KEY (workspace, term)
) WITH (fillfactor = 70);

-- One row a workspace, locked by whoever changes its segments.
CREATE TABLE library_statistics (
    workspace  integer PRIMARY KEY,
    segments   integer NOT NULL DEFAULT 0 CHECK (segments >= 0),
    documents  integer NOT NULL DEFAULT 0 CHECK (documents >= 0),
    counted_at integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON COLUMN library_statistics.counted_at IS 'how many segments there were when common terms were last looked for';
