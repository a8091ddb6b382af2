-- Add durable runs, which another process can resume, queued runs, and session branches.
--
-- A run waits its turn in its session, so that only one of them is running, and any process can go on with it.
ALTER TABLE runs
    ADD COLUMN message_id        uuid,
    ADD COLUMN parent_message_id uuid,
    ADD COLUMN fork_checkpoint   text,
    ADD COLUMN stop_requested    text,
    ADD COLUMN last_seq          integer;
COMMENT ON COLUMN runs.message_id IS 'the id of the answer to come, the same on every attempt';
COMMENT ON COLUMN runs.parent_message_id IS 'the message that this run goes on from, where that is not the last of the session';
COMMENT ON COLUMN runs.fork_checkpoint IS 'the checkpoint to fork from; empty to start from nothing, null to go on from the last';
COMMENT ON COLUMN runs.stop_requested IS 'why the process that has the run is to stop it; null for going on';
COMMENT ON COLUMN runs.last_seq IS 'the place of the terminal event in the log, known after the log is gone';
DROP INDEX runs_one_active;
CREATE UNIQUE INDEX runs_one_running ON runs (session_id) WHERE status = 'running';
CREATE INDEX runs_waiting ON runs (session_id, created_at, run_id) WHERE status = 'queued';
DROP INDEX runs_leases;
CREATE INDEX runs_leases ON runs (lease_until) WHERE status <> 'finished';
CREATE INDEX runs_listing ON runs (workspace, "user", created_at DESC, run_id);
DROP INDEX runs_of_workspace;  -- which that one begins with
CREATE INDEX sessions_idle ON sessions (updated_at);
