-- Add workspaces, documents, segments, sessions, runs and their events.
--
-- What Citewell keeps besides the library's segments. Every row belongs to one workspace, and goes with it.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE workspaces (
    number     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The one model that every stored vector comes from.
CREATE TABLE embedding_models (
    only_one    boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    model       text NOT NULL,
    dimension   integer NOT NULL CHECK (dimension > 0),
    recorded_at timestamptz NOT NULL DEFAULT now()
);

-- Where reindex gathers the vectors of another model, until all are there and take the place of the old ones. Unlogged:
-- after a crash they are made again.
CREATE UNLOGGED TABLE reindexed_segments (
    workspace     integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    document_id   uuid NOT NULL,
    segment_index integer NOT NULL,
    model         text NOT NULL,
    body_hash     bigint NOT NULL,
    embedding     halfvec NOT NULL,
    PRIMARY KEY (workspace, document_id, segment_index)
);
COMMENT ON COLUMN reindexed_segments.body_hash IS 'tells whether the segment is still the one that was embedded';

-- The canonical text is in the segments, which partition it: their bodies joined in order give it back.
CREATE TABLE documents (
    workspace      integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    document_id    uuid NOT NULL,
    title          text NOT NULL,
    slug           text,
    space_id       text,
    space_slug     text,
    url            text,
    source_type    text NOT NULL DEFAULT 'document',
    owner          text,
    metadata       jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(metadata::text) <= 16384),
    media_type     text NOT NULL,
    content_hash   text NOT NULL,
    page_count     integer,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    deleted_at     timestamptz,
    expires_at     timestamptz,
    PRIMARY KEY (workspace, document_id)
);
COMMENT ON COLUMN documents.owner IS 'the only user who may read it; null for the whole workspace';
CREATE INDEX documents_listing ON documents (workspace, updated_at DESC, document_id) WHERE deleted_at IS NULL;
CREATE INDEX documents_expiring ON documents (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE sessions (
    session_id        uuid PRIMARY KEY,
    workspace         integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    "user"            text NOT NULL,
    title             text NOT NULL DEFAULT 'New Chat' CHECK (char_length(title) <= 255),
    page_id           uuid,
    selected_page_ids jsonb NOT NULL DEFAULT '[]',
    dialect           text NOT NULL DEFAULT 'native',
    external_id       text,
    ephemeral         boolean NOT NULL DEFAULT false,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    expires_at        timestamptz,
    UNIQUE (workspace, "user", dialect, external_id)
);
COMMENT ON COLUMN sessions.external_id IS 'the id that a host gave; null where the session is known by our own alone';
CREATE INDEX sessions_listing ON sessions (workspace, "user", updated_at DESC, session_id) WHERE NOT ephemeral;
CREATE INDEX sessions_expiring ON sessions (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE runs (
    run_id      uuid PRIMARY KEY,
    session_id  uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    workspace   integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    "user"      text NOT NULL,
    question    text NOT NULL,
    request     jsonb NOT NULL DEFAULT '{}',
    status      text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'finished')),
    outcome     text CHECK (outcome IN ('answered', 'abstained', 'failed', 'cancelled')),
    stop_reason text,
    lease_owner text,
    lease_until timestamptz,
    attempt     integer NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT now(),
    started_at  timestamptz,
    finished_at timestamptz,
    CHECK ((status = 'finished') = (outcome IS NOT NULL)),
    CHECK ((outcome IS NULL) = (stop_reason IS NULL))
);
CREATE UNIQUE INDEX runs_one_active ON runs (session_id) WHERE status <> 'finished';
CREATE INDEX runs_of_session ON runs (session_id, created_at);
CREATE INDEX runs_of_workspace ON runs (workspace);
CREATE INDEX runs_leases ON runs (lease_until) WHERE status = 'running';

CREATE TABLE run_events (
    run_id     uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    seq        integer NOT NULL CHECK (seq > 0),
    type       text NOT NULL,
    payload    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, seq)
);
COMMENT ON COLUMN run_events.payload IS 'the event as it was sent, byte for byte: text, since jsonb would reorder its keys';
CREATE INDEX run_events_age ON run_events USING brin (created_at);

CREATE TABLE messages (
    message_id        uuid PRIMARY KEY,
    session_id        uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    run_id            uuid REFERENCES runs ON DELETE CASCADE,
    parent_message_id uuid REFERENCES messages ON DELETE SET NULL,
    checkpoint_id     text,
    role              text NOT NULL CHECK (role IN ('user', 'assistant')),
    content           text NOT NULL,
    body              jsonb NOT NULL DEFAULT '{}',
    outcome           text CHECK (outcome IN ('answered', 'abstained', 'failed', 'cancelled')),
    stop_reason       text,
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX messages_paged ON messages (session_id, created_at, message_id);
CREATE INDEX messages_of_run ON messages (run_id);
CREATE INDEX messages_children ON messages (parent_message_id) WHERE parent_message_id IS NOT NULL;

CREATE TABLE api_keys (
    key_hash     bytea PRIMARY KEY CHECK (octet_length(key_hash) = 32),
    workspace    integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    "user"       text NOT NULL,
    label        text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at   timestamptz
);
COMMENT ON COLUMN api_keys.key_hash IS 'SHA-256 of the key; the key itself is shown once and never stored';
CREATE INDEX api_keys_of_workspace ON api_keys (workspace);

-- Which release of the checkpointer has set up its own tables beside ours.
CREATE TABLE checkpointer_setup (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    release  text NOT NULL
);
