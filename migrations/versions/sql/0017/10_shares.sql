-- Keep the shares of sessions and answers, by the hashes of the tokens that open them.
--
-- A share that is revoked or over is deleted, so that a row is one that opens.
CREATE TABLE shares (
    share_id   uuid PRIMARY KEY,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    session_id uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    message_id uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
    is_whole   boolean NOT NULL,
    audience   text NOT NULL CHECK (audience IN ('workspace', 'link')),
    spaces     text[],
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
COMMENT ON COLUMN shares.message_id IS 'the answer, or the last message that was there when the session was shared';
COMMENT ON COLUMN shares.spaces IS 'that the credentials were restricted to that shared it; null for all';
CREATE INDEX shares_of_session ON shares (session_id, created_at);
CREATE INDEX shares_of_message ON shares (message_id);
CREATE INDEX shares_age ON shares (expires_at);
