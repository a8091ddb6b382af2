-- Add the exams of judges, which decide whether a judge's verdicts count.
--
-- Exams belong to the deployment: every workspace is answered by the same judges.
CREATE TABLE judge_exams (
    judge       text NOT NULL,
    version     text NOT NULL,
    exam        text NOT NULL,
    languages   jsonb NOT NULL DEFAULT '{}',
    started_at  timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    trouble     text,
    trouble_at  timestamptz,
    PRIMARY KEY (judge, version, exam)
);
COMMENT ON COLUMN judge_exams.version IS 'digest of the model and of its requests: another prompt needs another exam';
COMMENT ON COLUMN judge_exams.exam IS 'digest of the claims and of what it takes to pass';
COMMENT ON COLUMN judge_exams.languages IS 'results by language: counts, threshold, and what they cost';
COMMENT ON COLUMN judge_exams.finished_at IS 'the time of the last result';
COMMENT ON COLUMN judge_exams.trouble IS 'why the last attempt ended before its end; null if it did not';
