-- How a document is laid out is worked out once.
--
-- The blocks of documents, once somebody has looked at one: tools/library/laid_out_texts.py.
CREATE TABLE laid_out_texts (
    workspace    integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    document_id  uuid NOT NULL,
    content_hash text NOT NULL,
    blocks       bytea NOT NULL,
    PRIMARY KEY (workspace, document_id),
    FOREIGN KEY (workspace, document_id) REFERENCES documents ON DELETE CASCADE
);
ALTER TABLE laid_out_texts ALTER COLUMN blocks SET STORAGE EXTERNAL;
COMMENT ON COLUMN laid_out_texts.content_hash IS 'of the text that the blocks are of, behind the name of what is told of each';
COMMENT ON COLUMN laid_out_texts.blocks IS 'a JSON array, packed by zlib';
