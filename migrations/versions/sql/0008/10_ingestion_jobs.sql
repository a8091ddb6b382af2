-- Add jobs of ingestion, their files and their uploads.
--
-- Files that are to be ingested. A process that reads one holds a lease on it; its attempt is the token of that lease.
CREATE TABLE ingestion_jobs (
    job_id      uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace   integer NOT NULL REFERENCES workspaces (number) ON DELETE CASCADE,
    "user"      text NOT NULL,
    state       text NOT NULL DEFAULT 'queued'
                CHECK (state IN ('queued', 'running', 'paused', 'cancelled', 'finished')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    started_at  timestamptz,
    claimed_at  timestamptz,
    finished_at timestamptz
);
COMMENT ON COLUMN ingestion_jobs.claimed_at IS 'when a file of it was last taken, so that jobs take turns';
COMMENT ON COLUMN ingestion_jobs.finished_at IS 'when it was cancelled, or its last file was done; null before';
CREATE INDEX ingestion_jobs_open ON ingestion_jobs (created_at) WHERE state IN ('queued', 'running');
CREATE INDEX ingestion_jobs_listing ON ingestion_jobs (workspace, "user", created_at DESC, job_id);
CREATE INDEX ingestion_jobs_claimed ON ingestion_jobs (workspace, claimed_at) WHERE claimed_at IS NOT NULL;
CREATE INDEX ingestion_jobs_ended ON ingestion_jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE ingestion_files (
    job_id        uuid NOT NULL REFERENCES ingestion_jobs ON DELETE CASCADE,
    file_no       integer NOT NULL,
    workspace     integer NOT NULL REFERENCES workspaces (number) ON DELETE CASCADE,
    document_id   uuid NOT NULL,
    name          text NOT NULL,
    bytes         integer NOT NULL,
    state         text NOT NULL DEFAULT 'queued'
                  CHECK (state IN ('queued', 'working', 'stored', 'unchanged', 'refused', 'cancelled')),
    place         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    attempt       integer NOT NULL DEFAULT 0,
    tries         smallint NOT NULL DEFAULT 0,
    not_before    timestamptz NOT NULL DEFAULT '-infinity',
    lease_owner   text,
    lease_until   timestamptz,
    problem       jsonb,
    ingested      jsonb,
    segments_done integer,
    segments      integer,
    seconds       real,
    PRIMARY KEY (job_id, file_no)
);
COMMENT ON COLUMN ingestion_files.place IS 'its place among all files: those of one document are stored in this order';
COMMENT ON COLUMN ingestion_files.attempt IS 'raised by whoever takes, cancels or retries it; nobody writes under an earlier one';
COMMENT ON COLUMN ingestion_files.tries IS 'how often it was taken since it was queued';
COMMENT ON COLUMN ingestion_files.problem IS 'why it was refused, or what it waits for: code, message, suggestion';
COMMENT ON COLUMN ingestion_files.ingested IS 'the stored document, as the API describes it';
CREATE INDEX ingestion_files_waiting ON ingestion_files (job_id, place) WHERE state IN ('queued', 'working');
CREATE INDEX ingestion_files_of_document ON ingestion_files (workspace, document_id, place)
    WHERE state IN ('queued', 'working');
CREATE UNIQUE INDEX ingestion_files_one_working ON ingestion_files (workspace, document_id) WHERE state = 'working';

-- The bytes of a file and what its caller says of the document, dropped in the transaction that stores the document.
CREATE TABLE ingestion_uploads (
    job_id  uuid NOT NULL,
    file_no integer NOT NULL,
    fields  text NOT NULL,
    is_text boolean NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (job_id, file_no),
    FOREIGN KEY (job_id, file_no) REFERENCES ingestion_files ON DELETE CASCADE
);
ALTER TABLE ingestion_uploads ALTER COLUMN data SET STORAGE EXTERNAL;
