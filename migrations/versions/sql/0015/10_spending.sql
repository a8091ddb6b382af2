-- Add what runs and verifications spent, by model, so that limits by day hold over all processes.
--
-- Rows are only ever added, so that runs that end together wait for no common row. One row stands for the run itself,
-- written when it is asked; the others, written when it ends, for a model that it used.

CREATE TABLE spending (
    workspace       integer NOT NULL REFERENCES workspaces ON DELETE CASCADE,
    charge_id       uuid NOT NULL,
    model           text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('run', 'verification')),
    "user"          text NOT NULL,
    session_id      uuid,
    key_id          text,
    address         text,
    day             date NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    calls           integer NOT NULL DEFAULT 0,
    estimated_calls integer NOT NULL DEFAULT 0,
    input_tokens    bigint NOT NULL DEFAULT 0,
    cached_tokens   bigint NOT NULL DEFAULT 0,
    output_tokens   bigint NOT NULL DEFAULT 0,
    cost            numeric,
    currency        text,
    PRIMARY KEY (charge_id, model)
);
COMMENT ON COLUMN spending.charge_id IS 'the run, or a verification, which has no row of its own elsewhere';
COMMENT ON COLUMN spending.model IS 'as its endpoint names it; empty for the row that stands for the run itself';
COMMENT ON COLUMN spending.session_id IS 'no reference: what was spent is known after the session is deleted';
COMMENT ON COLUMN spending.address IS 'kept only for a limit by address, and only for the day';
COMMENT ON COLUMN spending.day IS 'on which it was asked, in the deployment''s time zone';
COMMENT ON COLUMN spending.cost IS 'exact, in units of the currency; null for a model without a price';
-- It holds all that the limits of a day need, so that the table itself is not read for them.
CREATE INDEX spending_by_day ON spending (workspace, day, "user")
    INCLUDE (model, kind, key_id, address, input_tokens, output_tokens, cost, currency);
CREATE INDEX spending_by_address ON spending (workspace, day, address) WHERE address IS NOT NULL;
