-- Add hops, which find documents by the names that other documents use for them.
--
-- Search follows the names in what it finds to the documents that bear them as titles.
ALTER TABLE documents ADD COLUMN title_key text COLLATE "C" GENERATED ALWAYS AS (
    left(lower(regexp_replace(normalize(title, NFKC), '\s*\([^()]*\)$', '')), 200)
) STORED;
COMMENT ON COLUMN documents.title_key IS 'the title as running text would have it: without what stands in brackets at its end, in lower case';
CREATE INDEX documents_titles ON documents (workspace, title_key);
