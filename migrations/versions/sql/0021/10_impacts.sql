-- Add impact keys, by which the segments that say most of a common term are found; old segments get theirs later.
--
-- Segments are indexed by the weight of their terms too: text/terms.py, with_impacts. Those that are there already get
-- their keys from maintenance (tools/retrieval/term_counting.py), document by document; until then a search reads as before.
ALTER TABLE library_statistics ADD COLUMN impacts_from uuid;
COMMENT ON COLUMN library_statistics.impacts_from IS 'documents from here on may have segments without impact keys; null where all have them';
UPDATE library_statistics SET impacts_from = '00000000-0000-0000-0000-000000000000' WHERE segments > 0;
COMMENT ON COLUMN segments.terms IS 'ids of text/terms.py, ascending, which pick candidates; behind them negative impact keys, for terms of high weight';

-- Common terms are counted while the library changes: what changes meanwhile is noted here, and added at the end.
ALTER TABLE library_statistics ADD COLUMN recounting boolean NOT NULL DEFAULT false;
CREATE TABLE term_changes (
    change_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace integer NOT NULL,
    terms     integer[] NOT NULL,
    segments  integer[] NOT NULL
);
CREATE INDEX term_changes_workspace ON term_changes (workspace);
COMMENT ON TABLE term_changes IS 'by how many segments of each term a transaction changed a library whose terms were being counted';
