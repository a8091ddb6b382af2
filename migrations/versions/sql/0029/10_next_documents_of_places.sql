-- Places note the document that a sync has stored for them before it is theirs.
--
-- A sync stores a new document for a path that still has another one before it may change the place. Whoever deletes the
-- source meanwhile, or syncs it after a crash, finds the document here.
ALTER TABLE places ADD COLUMN next_document_id uuid;
COMMENT ON COLUMN places.next_document_id IS 'stored for this path by a sync that is yet to give it the place; may be gone';
