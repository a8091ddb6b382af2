-- Add what keys are restricted to and how often they may be used, and the audit log.
--
-- What a key may do. Keys that were made before may do what they could: all but administer.
ALTER TABLE api_keys
    ADD COLUMN scopes text[] NOT NULL DEFAULT '{ask,read,write}',
    ADD COLUMN spaces text[],
    ADD COLUMN origins text[] NOT NULL DEFAULT '{}',
    ADD COLUMN is_public boolean NOT NULL DEFAULT false,
    ADD COLUMN a_minute integer CHECK (a_minute > 0),
    ADD COLUMN a_minute_by_address integer CHECK (a_minute_by_address > 0),
    ADD COLUMN runs_a_day integer CHECK (runs_a_day > 0),
    ADD CHECK (scopes <@ '{ask,read,write,admin}'),
    ADD CHECK (NOT is_public OR scopes = '{ask}');
COMMENT ON COLUMN api_keys.spaces IS 'ids or slugs of the only spaces that it reads and writes; null for all';
COMMENT ON COLUMN api_keys.origins IS 'of the only web pages that may send it; empty for any caller';
COMMENT ON COLUMN api_keys.is_public IS 'for anybody: a session is opened by its id alone, and nothing is listed';
CREATE INDEX api_keys_origins ON api_keys (key_hash) WHERE origins <> '{}' AND revoked_at IS NULL;

-- What of its limits a credential has used: requests, in all or from one address, and runs. Rows without use are
-- dropped by age.
CREATE TABLE used_limits (
    credential text NOT NULL,
    kind       text NOT NULL,
    full_at    timestamptz NOT NULL,
    used       integer NOT NULL DEFAULT 0,
    PRIMARY KEY (credential, kind)
);
COMMENT ON COLUMN used_limits.full_at IS 'when the whole limit is free again';
CREATE INDEX used_limits_age ON used_limits (full_at);

-- On whose behalf a job stores its files: what their credentials allowed when it was submitted.
ALTER TABLE ingestion_jobs
    ADD COLUMN spaces text[],
    ADD COLUMN assigns_owners boolean NOT NULL DEFAULT true;

-- Who asked, read, changed and was refused. By name, so that it outlives users, keys and workspaces.
CREATE TABLE audit_log (
    entry_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT now(),
    workspace  text,
    "user"     text,
    credential text,
    action     text NOT NULL,
    request    text NOT NULL,
    target     text,
    outcome    text NOT NULL,
    status     smallint NOT NULL,
    reason     text,
    address    text,
    times      integer NOT NULL DEFAULT 1 CHECK (times > 0),
    question   text
);
COMMENT ON COLUMN audit_log.times IS 'how many requests that differ in nothing else came within the same moment';
COMMENT ON COLUMN audit_log.question IS 'null unless the deployment records questions';
CREATE INDEX audit_log_of_workspace ON audit_log (workspace, entry_id DESC);
CREATE INDEX audit_log_age ON audit_log USING brin (at);
