-- Add what of a document's file is not in its text.
--
-- What of a document's file is not in its text, in plain sentences: hidden words, pages without any. Empty where a
-- document was ingested before; ingesting it again adds it.

ALTER TABLE documents ADD COLUMN left_out text[] NOT NULL DEFAULT '{}';
