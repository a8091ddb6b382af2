-- Add the logins of people, whom a cookie identifies.
--
-- What the issuer said at the login holds until it ends, so a login belongs to no one workspace.
CREATE TABLE logins (
    login_hash   bytea PRIMARY KEY,
    "user"       text NOT NULL,
    name         text NOT NULL,
    granted      jsonb NOT NULL,
    id_token     bytea NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL
);
CREATE INDEX logins_user ON logins ("user");
CREATE INDEX logins_expires_at ON logins (expires_at);
COMMENT ON COLUMN logins.login_hash IS 'SHA-256 of the id in the cookie, which is stored nowhere';
COMMENT ON COLUMN logins.granted IS 'what the claims allowed at the login: workspaces, the first by default, and groups';
COMMENT ON COLUMN logins.id_token IS 'a hint for logging out at the issuer, encrypted by the id in the cookie';
