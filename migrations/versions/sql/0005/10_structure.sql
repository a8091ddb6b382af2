-- Add the structure of segments: their blocks, and what those hang on.
--
-- What a segment's sentences hang on: the term, the header row, the lead-in. Null where a document was ingested before;
-- ingesting it again adds it.

ALTER TABLE segments ADD COLUMN structure jsonb;
COMMENT ON COLUMN segments.structure IS 'blocks and their context slices, as tools/retrieval/structure.py packs them';
