"""The statements by which sessions are made, found, changed and held while they go."""

from tools.session_rows import SESSION

MINE = 'session_id = %(session_id)s AND workspace = %(workspace)s AND "user" = %(user)s'

# An external id that is known gives back its session, also where two requests bring it at once.
CREATE = f"""
INSERT INTO sessions (session_id, workspace, "user", title, page_id, selected_page_ids, dialect, external_id, ephemeral,
                      expires_at)
VALUES (%(session_id)s, %(workspace)s, %(user)s, %(title)s, %(page_id)s, %(page_ids)s, %(dialect)s, %(external_id)s,
        %(ephemeral)s, CASE WHEN %(ephemeral)s THEN now() + make_interval(hours => %(hours)s) END)
ON CONFLICT (workspace, "user", dialect, external_id) DO UPDATE SET external_id = excluded.external_id
RETURNING {SESSION}
"""
ONE = f"SELECT {SESSION} FROM sessions WHERE {MINE}"
LIST = f"""
SELECT {SESSION} FROM sessions
WHERE workspace = %(workspace)s AND "user" = %(user)s AND NOT ephemeral
  AND (%(dialect)s::text IS NULL OR dialect = %(dialect)s)
  AND (%(before)s::timestamptz IS NULL OR updated_at < %(before)s
       OR updated_at = %(before)s AND session_id > %(after_id)s::uuid)
ORDER BY updated_at DESC, sessions.session_id LIMIT %(limit)s
"""
# Neither a title nor a selection is use: the list keeps its order.
CHANGE = f"""
UPDATE sessions SET title = coalesce(%(title)s, title), selected_page_ids = coalesce(%(page_ids)s, selected_page_ids)
WHERE {MINE} RETURNING {SESSION}
"""
FIRST_QUESTION = "SELECT question FROM runs WHERE session_id = %s ORDER BY created_at, run_id LIMIT 1"
# The lock keeps a run from being entered while its session goes: the ledger's row refers to this one.
LOCK = f"SELECT session_id FROM sessions WHERE {MINE} FOR UPDATE"
BUSY = "SELECT 1 FROM runs WHERE session_id = %(session_id)s AND status <> 'finished' AND lease_until > now()"
