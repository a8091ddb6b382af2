-- Add the readers of documents and sources, and what links to documents are signed with.
--
-- Who may read a document besides its owner: users and groups, or everyone. Null says nothing, as all rows did before:
-- then everyone reads a document without an owner, and only the owner one that has one.

ALTER TABLE documents ADD COLUMN readers text[];
COMMENT ON COLUMN documents.owner IS 'who always reads it, and alone may change it; null where all readers may';
COMMENT ON COLUMN documents.readers IS 'user:NAME, group:NAME, everyone; null for everyone, or the owner alone if there is one';
-- For those of a workspace who may read only some of it: what they may, without looking at the rest.
CREATE INDEX documents_for_everyone ON documents (workspace)
    WHERE owner IS NULL AND readers IS NULL AND deleted_at IS NULL AND expires_at IS NULL;
CREATE INDEX documents_of_owner ON documents (workspace, owner) WHERE owner IS NOT NULL;
CREATE INDEX documents_of_readers ON documents USING gin (readers) WHERE readers IS NOT NULL;

ALTER TABLE sources ADD COLUMN readers text[];
COMMENT ON COLUMN sources.owner IS 'who always reads it and its documents, and alone may change it; null where all readers may';
COMMENT ON COLUMN sources.readers IS 'as of documents: of the source, and of each document of it';
-- The same place may be followed for several audiences, none of which learns of the others.
DROP INDEX sources_by_location;
CREATE UNIQUE INDEX sources_by_location ON sources
    (workspace, kind, location, (options ->> 'folder'), (options ->> 'ref'), owner, readers) NULLS NOT DISTINCT;

ALTER TABLE ingestion_jobs ADD COLUMN groups text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN ingestion_jobs.groups IS 'of its user, when it was submitted';

-- LangChain's face of the library shows what is for everybody, so documents with readers have to leave it.
DO $$
DECLARE
    view record;
BEGIN
    FOR view IN
        SELECT c.oid, c.relname, pg_get_viewdef(c.oid) AS definition FROM pg_class AS c
        WHERE c.relkind = 'v' AND c.relname ~ '^library_[0-9]+$' AND c.relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %I AS %s AND d.readers IS NULL', view.relname, rtrim(view.definition, E'; \n'));
    END LOOP;
END
$$;
