-- Moves of workspaces to other databases: their state, and what refuses changes while and after one moves.
--
-- Workspaces that move to another database, or came from one: tools/moves/moving.py, docs/adr/0034.
CREATE TABLE workspace_moves (
    workspace integer PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
    move_id   uuid NOT NULL,
    state     text NOT NULL CHECK (state IN ('copying', 'draining', 'closed', 'sealed', 'moved',
                                             'arriving', 'arrived', 'dropped')),
    other     text NOT NULL,
    until     timestamptz CHECK ((until IS NOT NULL) = (state IN ('draining', 'closed'))),
    began_at  timestamptz NOT NULL DEFAULT now(),
    moved_at  timestamptz
);
COMMENT ON COLUMN workspace_moves.state IS 'here, in the order of a move: copying to moved; in the other database: arriving, then arrived, or dropped where the move was given up';
COMMENT ON COLUMN workspace_moves.other IS 'the other database, without user and password';
COMMENT ON COLUMN workspace_moves.until IS 'when what is refused is allowed again by itself, whatever has become of the process that moves it';

-- Workspaces that take no changes. What changes rows of all workspaces in one statement leaves these out.
CREATE VIEW closed_workspaces AS
SELECT workspace, state, other FROM workspace_moves
WHERE state IN ('sealed', 'moved', 'arriving', 'dropped') OR state = 'closed' AND until > clock_timestamp();

-- Refuse a change of a workspace that takes none. The shared lock is kept until the transaction ends: who closes a
-- workspace takes it whole, and then knows that all who were let pass are done. Read after it, the state is the newest.
CREATE FUNCTION refuse_where_closed(asked integer, asks boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    move record;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1836021349, asked);
    SELECT m.state, m.other, w.name INTO move FROM workspace_moves AS m JOIN workspaces AS w ON w.number = m.workspace
    WHERE m.workspace = asked AND (
        m.state IN ('sealed', 'moved', 'arriving', 'dropped')
        OR (m.state = 'closed' OR m.state = 'draining' AND asks) AND m.until > clock_timestamp()
    );
    IF FOUND AND current_setting('citewell.moving', true) IS DISTINCT FROM 'on' THEN
        IF move.state = 'moved' THEN
            RAISE EXCEPTION USING ERRCODE = 'CW421', MESSAGE = format('%s', move.name), DETAIL = move.other;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'CW503', MESSAGE = format('%s', move.name), DETAIL = move.other;
    END IF;
END $$;

-- Nearly every row is of a workspace that never moved, so that is looked at first.
CREATE FUNCTION guard_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    asked integer;
BEGIN
    IF TG_OP = 'DELETE' THEN asked := OLD.workspace; ELSE asked := NEW.workspace; END IF;
    PERFORM pg_advisory_xact_lock_shared(1836021349, asked);
    -- A statement of its own, which sees what was committed while that one waited.
    IF EXISTS (SELECT FROM workspace_moves WHERE workspace = asked) THEN
        PERFORM refuse_where_closed(asked, TG_OP = 'INSERT' AND TG_TABLE_NAME = 'runs');
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;

-- Of what belongs to a message. Where that is deleted with it, the session was asked for already.
CREATE FUNCTION guard_message() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    asked integer;
BEGIN
    SELECT workspace INTO asked FROM messages JOIN sessions USING (session_id)
    WHERE message_id = CASE TG_OP WHEN 'DELETE' THEN OLD.message_id ELSE NEW.message_id END;
    IF FOUND THEN
        PERFORM refuse_where_closed(asked, false);
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

-- Each transaction that changes anything of a workspace changes one of these tables, too: segments with
-- library_statistics, the pieces of an original with originals, messages, events and checkpoints with runs and sessions.
DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['documents', 'library_statistics', 'document_versions', 'document_guides',
        'originals', 'sources', 'places', 'ingestion_jobs', 'ingestion_files', 'sessions', 'runs', 'api_keys', 'spending']
    LOOP
        EXECUTE format('CREATE TRIGGER guarded BEFORE INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH ROW EXECUTE FUNCTION guard_workspace()', guarded);
    END LOOP;
    FOREACH guarded IN ARRAY ARRAY['message_feedback', 'follow_ups', 'shares']
    LOOP
        EXECUTE format('CREATE TRIGGER guarded BEFORE INSERT OR UPDATE OR DELETE ON %I'
            ' FOR EACH ROW EXECUTE FUNCTION guard_message()', guarded);
    END LOOP;
END $$;

-- A workspace that is in another database, or not yet whole in this one, is not read here.
CREATE OR REPLACE FUNCTION library_is_in(asked integer, own boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM library_statistics AS l WHERE l.workspace = asked AND l.own_tables = own)
        AND NOT EXISTS (SELECT FROM workspace_moves AS m
                        WHERE m.workspace = asked AND m.state IN ('sealed', 'moved', 'arriving', 'dropped'))
    THEN
        RETURN true;
    END IF;
    RAISE undefined_table USING MESSAGE = format('the segments of workspace %s are in other tables, or gone', asked);
END
$$;
