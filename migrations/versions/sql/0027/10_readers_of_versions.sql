-- Versions of documents keep who could read their text and its space; titles that are asked for are charged.
--
-- Who could read a text when it was replaced, and where it was. Nobody knows that of the versions that are here already, nor
-- of those that a process of the release before still writes. They get the default, the owner alone, which no document
-- without an owner has: tools/library/versions.py shows such a version to the user who had stored it.
ALTER TABLE document_versions
    ADD COLUMN readers text[] DEFAULT '{}', ADD COLUMN space_id text, ADD COLUMN space_slug text;
COMMENT ON COLUMN document_versions.readers IS 'as of documents, when the text was replaced; empty without an owner where that is not known';
COMMENT ON COLUMN document_versions.space_id IS 'as of documents, when the text was replaced; null also where that is not known';
