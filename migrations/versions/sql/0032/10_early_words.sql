-- Messages keep what a judge said of them before its exam, until that is over.
--
-- What a judge said of an answer before its exam is settled once that is over: tools/runs/verdict_upgrades.py.
ALTER TABLE messages ADD COLUMN judged_early jsonb NOT NULL DEFAULT '[]', ADD COLUMN upgraded_at timestamptz;
COMMENT ON COLUMN messages.judged_early IS 'of its claims that wait for the exam of the judge that spoke of them: that judge and its word';
COMMENT ON COLUMN messages.upgraded_at IS 'when verdicts of it were last settled by an exam; null if none were';
CREATE INDEX messages_judged_early ON messages (created_at, message_id) WHERE judged_early <> '[]';
