-- A sketch of each text's pairs of words, of which two texts share about as much as of the pairs themselves. Null where
-- a document is too short for one, or was ingested before; ingesting it again adds it.

ALTER TABLE documents ADD COLUMN likeness bit(256);
