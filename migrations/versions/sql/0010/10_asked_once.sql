-- Let two requests for the same question of a conversation find that one of them asks it.
--
-- A page may open its EventSource twice within a moment, and in two processes: the index lets one of the two ask.
ALTER TABLE runs ADD COLUMN asked_once bytea;
COMMENT ON COLUMN runs.asked_once IS 'the hash of the question, where it is asked no second time while it is answered';
CREATE UNIQUE INDEX runs_asked_once ON runs (session_id, asked_once) WHERE status <> 'finished';
