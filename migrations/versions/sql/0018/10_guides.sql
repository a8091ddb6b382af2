-- Add guides of documents, questions that follow an answer, what made them spent, and pinned sessions.
--
-- A guide is made of one text of a document, and is not used for another. It holds nothing but what that text says, so
-- whoever may read the document may read it.
CREATE TABLE document_guides (
    workspace   integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    document_id uuid NOT NULL,
    version     integer NOT NULL,
    body        jsonb NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, document_id),
    FOREIGN KEY (workspace, document_id) REFERENCES documents ON DELETE CASCADE
);
COMMENT ON COLUMN document_guides.version IS 'of the text that it was made of and that its questions were proven on';

-- Questions to go on with after an answer, each proven on the text of a document.
CREATE TABLE follow_ups (
    message_id uuid PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
    questions  jsonb NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN follow_ups.questions IS 'each with its document and that document''s version, which it holds for';

ALTER TABLE spending DROP CONSTRAINT spending_kind_check,
    ADD CONSTRAINT spending_kind_check CHECK (kind IN ('run', 'verification', 'suggestion'));

ALTER TABLE sessions ADD COLUMN pinned boolean NOT NULL DEFAULT false;
DROP INDEX sessions_listing;
CREATE INDEX sessions_listing ON sessions (workspace, "user", pinned DESC, updated_at DESC, session_id) WHERE NOT ephemeral;
