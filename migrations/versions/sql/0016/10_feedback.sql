-- Keep what readers say of an answer: up or down, why, and which of its claims they mean.
--
-- It goes with its answer, and so with its session, however that is deleted.
CREATE TABLE message_feedback (
    message_id  uuid PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
    rating      text NOT NULL CHECK (rating IN ('up', 'down')),
    reason_code text,
    note        text,
    claim       jsonb,
    given_at    timestamptz NOT NULL DEFAULT now(),
    changed_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN message_feedback.claim IS 'the section and the offsets in its text of the claim that is meant';
