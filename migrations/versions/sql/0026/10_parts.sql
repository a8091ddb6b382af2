-- Large workspaces have further tables, each with a part of their segments; what is there stays where it is.
--
-- Further parts of large workspaces, beside the partition of segments that is their first; docs/adr/0035 says why these
-- are no partitions of that one. A part is a table with indexes of its own, made by tools/storage/partitions.py.
CREATE TABLE further_segments (
    LIKE segments INCLUDING ALL EXCLUDING INDEXES,
    part integer NOT NULL CHECK (part > 0)
) PARTITION BY RANGE (workspace, part);
CREATE INDEX further_segments_terms ON further_segments USING gin (terms)
    WITH (fastupdate = on, gin_pending_list_limit = 1024);
CREATE TABLE further_segment_vectors (
    LIKE segment_vectors INCLUDING ALL EXCLUDING INDEXES,
    part integer NOT NULL CHECK (part > 0)
) PARTITION BY RANGE (workspace, part);
COMMENT ON TABLE further_segments IS 'a document is whole in one part; the primary key is each part''s own, and the lock of its library keeps a document from being in two';

ALTER TABLE library_statistics ADD COLUMN part_segments integer[];
COMMENT ON COLUMN library_statistics.part_segments IS 'how many segments each part has, the partition of segments first; null where that is all';
-- What knows of no parts, as a process of an earlier release does, can't write to a library that has some.
CREATE FUNCTION sum_of(numbers integer[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT coalesce(sum(number), 0) FROM unnest(numbers) AS number);
ALTER TABLE library_statistics ADD CONSTRAINT library_statistics_parts_add_up
    CHECK (part_segments IS NULL OR segments = sum_of(part_segments));

CREATE OR REPLACE VIEW all_segments AS
SELECT workspace, document_id, segment_index, start_offset, end_offset, page_idx, tokens, heading, structure, body
FROM segments
UNION ALL
SELECT workspace, document_id, segment_index, start_offset, end_offset, page_idx, tokens, heading, structure, body
FROM further_segments
UNION ALL
SELECT workspace, document_id, segment_index, start_offset, end_offset, page_idx, tokens, heading, structure, body
FROM shared_segments;

-- As before, and it fails as well where the library has another number of parts: none is left out of a search.
DROP FUNCTION library_is_in(integer, boolean);
CREATE FUNCTION library_is_in(asked integer, own boolean, parts integer DEFAULT 1) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (
        SELECT FROM library_statistics AS l WHERE l.workspace = asked AND l.own_tables = own
        AND coalesce(cardinality(l.part_segments), 1) = parts
    ) AND NOT EXISTS (
        SELECT FROM workspace_moves AS m
        WHERE m.workspace = asked AND m.state IN ('sealed', 'moved', 'arriving', 'dropped')
    ) THEN
        RETURN true;
    END IF;
    RAISE undefined_table USING MESSAGE = format('the segments of workspace %s are in other tables, or gone', asked);
END
$$;
