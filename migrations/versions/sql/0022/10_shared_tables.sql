-- Let small workspaces share a pair of tables; those that exist keep their own.
--
-- Small workspaces share a pair of tables; docs/adr/0033 says why these are no partitions of segments. Which workspace
-- is where stands in the row that whoever changes its segments locks.

ALTER TABLE library_statistics ADD COLUMN own_tables boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN library_statistics.own_tables IS 'whether its segments are in partitions of its own, or in the shared tables';

CREATE TABLE shared_segments (
    LIKE segments INCLUDING ALL EXCLUDING INDEXES,
    PRIMARY KEY (workspace, document_id, segment_index)
) WITH (toast_tuple_target = 4080);
CREATE TABLE shared_segment_vectors (
    LIKE segment_vectors INCLUDING ALL EXCLUDING INDEXES,
    PRIMARY KEY (workspace, document_id, segment_index)
);

-- A term of a workspace is a key of its own, so that no workspace reads what others hold of a common word.
CREATE FUNCTION tenant_terms(workspace integer, terms integer[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(SELECT (workspace::bigint << 32) + term FROM unnest(terms) AS term);
-- Without a list of pending entries: one that all share would be read by every search of any of them.
CREATE INDEX shared_segments_terms ON shared_segments USING gin (tenant_terms(workspace, terms)) WITH (fastupdate = off);

-- For what reads by document, wherever its workspace is. Never lists weights, whose type depends on pgvector.
CREATE VIEW all_segments AS
SELECT workspace, document_id, segment_index, start_offset, end_offset, page_idx, tokens, heading, structure, body
FROM segments
UNION ALL
SELECT workspace, document_id, segment_index, start_offset, end_offset, page_idx, tokens, heading, structure, body
FROM shared_segments;

-- A condition of statements that read where they were told that a workspace is: they fail where it is not, as they do
-- where its own table is gone, and never find it empty. STABLE: it sees what the statement sees.
CREATE FUNCTION library_is_in(asked integer, own boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM library_statistics AS l WHERE l.workspace = asked AND l.own_tables = own) THEN
        RETURN true;
    END IF;
    RAISE undefined_table USING MESSAGE = format('the segments of workspace %s are in other tables, or gone', asked);
END
$$;
