-- Partition the log of runs by day, so that a day is dropped where each of its events was deleted.
--
-- A run's id begins with the time at which it was made (UUID version 7), so that a range of ids is a day, the key of the
-- log stays (run_id, seq), unique over all days, and a run's events are in one partition, which its id names.
--
-- What is stored becomes the default partition as it is, without a row moved: ids of before tell no day. Later it is the
-- net for days that have no partition: after a long time without a server, or by a clock that is wrong.

ALTER TABLE run_events RENAME TO run_events_default;
ALTER INDEX run_events_pkey RENAME TO run_events_default_pkey;
ALTER INDEX run_events_age RENAME TO run_events_default_age;
-- A partition that refers to runs could not be added or dropped without a lock on them; a trigger does the same.
ALTER TABLE run_events_default DROP CONSTRAINT run_events_run_id_fkey;

CREATE TABLE run_events (
    run_id     uuid NOT NULL,
    seq        integer NOT NULL CONSTRAINT run_events_seq_check CHECK (seq > 0),
    type       text NOT NULL,
    payload    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, seq)
) PARTITION BY RANGE (run_id);
COMMENT ON COLUMN run_events.payload IS 'the event as it was sent, byte for byte: text, since jsonb would reorder its keys';

-- The least id of a run that was made on a day, in UTC.
CREATE FUNCTION first_run_id(day date) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN rpad(lpad(to_hex((day - date '1970-01-01') * 86400000::bigint), 12, '0'), 32, '0')::uuid;

-- A table made apart and attached waits for no reader of other days, as PARTITION OF does.
CREATE FUNCTION add_log_day(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    partition text := 'run_events_' || to_char(day, 'YYYYMMDD');
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE run_events INCLUDING ALL)', partition);
    EXECUTE format(
        'ALTER TABLE run_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        partition, first_run_id(day), first_run_id(day + 1)
    );
END $$;

SELECT add_log_day((now() AT TIME ZONE 'UTC')::date + ahead) FROM generate_series(0, 3) AS ahead;
ALTER TABLE run_events ATTACH PARTITION run_events_default DEFAULT;

-- Every event is written by a statement that has its run's row or locks it, so that none comes after this.
CREATE FUNCTION delete_run_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM run_events USING gone WHERE run_events.run_id = gone.run_id;
    RETURN NULL;
END $$;
CREATE TRIGGER runs_take_their_log AFTER DELETE ON runs REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION delete_run_events();

-- Processes of the release before go on while they are replaced, and their sweep names the rows of the one table that
-- they know by ctid, which here names a row of every partition: what it finds is left to the sweep of this release.
CREATE FUNCTION keep_run_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER kept_from_older_sweep BEFORE DELETE ON run_events FOR EACH ROW
    WHEN (current_query() LIKE '%FROM run_events WHERE ctid = ANY%') EXECUTE FUNCTION keep_run_event();
