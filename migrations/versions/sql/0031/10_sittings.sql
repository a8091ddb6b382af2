-- Exams of judges that are not over keep their answers.
ALTER TABLE judge_exams ADD COLUMN sittings jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN judge_exams.sittings IS 'by language, of exams that are not over: what the judge has said so far, and what it took';
