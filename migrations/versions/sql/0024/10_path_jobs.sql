-- Jobs made of paths, whose files are read where they are: what bulk ingestion on a cluster takes up again.
--
-- Jobs made of paths: their files are read where they are, and stored by whoever was told to, not by the workers of uploads.
ALTER TABLE ingestion_jobs ADD COLUMN made_from jsonb;
COMMENT ON COLUMN ingestion_jobs.made_from IS 'the paths that a command named, and who may read what is in them; null for uploads, which workers store';
CREATE INDEX ingestion_jobs_made_from ON ingestion_jobs (workspace, "user")
    WHERE made_from IS NOT NULL AND state IN ('queued', 'running', 'paused');
ALTER TABLE ingestion_uploads ADD COLUMN path text;
COMMENT ON COLUMN ingestion_uploads.path IS 'where the bytes of the file are read; null where they are in data';
