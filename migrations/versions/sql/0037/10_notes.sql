-- Store notes: what somebody pinned with its proof, and what they say of it.
--
-- A note is its owner's; where it is shared, everybody in the workspace reads it, each by their own rights.
CREATE TABLE notes (
    note_id    uuid PRIMARY KEY,
    workspace  integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    "user"     text NOT NULL,
    title      text NOT NULL,
    body       text NOT NULL DEFAULT '',
    shared     boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN notes.body IS 'what its owner says in it, in Markdown';
CREATE INDEX notes_listing ON notes (workspace, updated_at DESC, note_id);
CREATE TRIGGER guarded BEFORE INSERT OR UPDATE OR DELETE ON notes FOR EACH ROW EXECUTE FUNCTION guard_workspace();

-- Each change of an entry also changes its note, whose workspace is asked for then.
CREATE TABLE note_entries (
    entry_id  uuid PRIMARY KEY,
    note_id   uuid NOT NULL REFERENCES notes ON DELETE CASCADE,
    place     integer NOT NULL,
    question  text NOT NULL,
    body      jsonb NOT NULL,
    pinned_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN note_entries.question IS 'that was answered; empty for a passage that was marked in a document';
COMMENT ON COLUMN note_entries.body IS 'sections, claims, citations and sources, as a stored answer has them';
CREATE INDEX note_entries_of_note ON note_entries (note_id, place);

ALTER TABLE spending DROP CONSTRAINT spending_kind_check,
    ADD CONSTRAINT spending_kind_check
        CHECK (kind IN ('run', 'verification', 'suggestion', 'title', 'comparison', 'flashcards')) NOT VALID;
