-- What links to documents are signed with, made when the first one is. Another secret ends all links.
CREATE TABLE link_secret (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    secret   bytea NOT NULL CHECK (octet_length(secret) >= 32),
    made_at  timestamptz NOT NULL DEFAULT now()
);

-- For whom links were made: a user, with what the credentials said of the user then. Links name their row.
CREATE TABLE link_grants (
    grant_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace integer NOT NULL REFERENCES workspaces (number) ON DELETE CASCADE,
    "user"    text NOT NULL,
    rights    jsonb NOT NULL,
    seen_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (workspace, "user", rights)
);
COMMENT ON COLUMN link_grants.rights IS 'the groups that credentials named, and what else narrows what the user may do';
COMMENT ON COLUMN link_grants.seen_at IS 'when credentials last said so; accurate to ten minutes';
CREATE INDEX link_grants_age ON link_grants (seen_at);
