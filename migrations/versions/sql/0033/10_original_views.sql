-- What was seen of originals is stored beside them.
--
-- What viewers show of originals beyond their text, once a process that reads files has seen it: tools/library/view_store.py.
CREATE TABLE original_views (
    workspace integer NOT NULL,
    sha256 text NOT NULL,
    view text NOT NULL,
    part text NOT NULL,
    found text,
    data bytea NOT NULL,
    size bigint NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, sha256, view, part),
    FOREIGN KEY (workspace, sha256) REFERENCES originals (workspace, sha256) ON DELETE CASCADE
);
ALTER TABLE original_views ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX original_views_made ON original_views (workspace, made_at) INCLUDE (size);
COMMENT ON COLUMN original_views.part IS 'of the original: a page, a quote on it, or the hash of the text that it is laid out with';
COMMENT ON COLUMN original_views.found IS 'JSON; null where it can''t be read';
COMMENT ON COLUMN original_views.data IS 'the bytes of pictures, one after the other, unpacked so that one is read without the rest';
