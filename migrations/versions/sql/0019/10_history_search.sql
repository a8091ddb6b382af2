-- Add what the search of one's own history needs: the words of titles and messages, in an index.
--
-- A text as the search of a history compares it, in runs: small letters without accents, and Chinese, Japanese and
-- Korean apart from the rest, since it is written without spaces. Long texts are searched by their beginning.
CREATE FUNCTION history_runs(said text) RETURNS TABLE (run text, is_dense boolean) LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT found[1], found[1] ~ '^[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]'
    FROM regexp_matches(
        normalize(translate(
            regexp_replace(normalize(lower(left(said, 100000)), NFKD), '[\u0300-\u036f]', '', 'g'), 'đĐ', 'dd'
        ), NFC),
        '[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+'
        || '|[^\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+',
        'g'
    ) AS found;
END;

-- What is indexed of a text: its words, of which no index takes the end of a very long one, and of dense runs each pair
-- of letters and the last letter.
CREATE FUNCTION history_words(said text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT word), '{}')
    FROM (
        SELECT left(run, 100) AS word FROM history_runs(said) WHERE NOT is_dense
        UNION ALL
        SELECT substr(run, place, 2) FROM history_runs(said), generate_series(1, length(run)) AS place WHERE is_dense
    ) AS words;
END;

-- What a text is looked for by: all of its words, as the beginnings of words; null where it has none.
CREATE FUNCTION history_query(said text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT string_agg(format('''%s'':*', word), ' & ')::tsquery
    FROM (
        SELECT left(run, 100) AS word FROM history_runs(said) WHERE NOT is_dense OR length(run) = 1
        UNION
        SELECT substr(run, place, 2)
        FROM history_runs(said), generate_series(1, length(run) - 1) AS place
        WHERE is_dense
    ) AS words;
END;

ALTER TABLE messages ADD COLUMN words tsvector GENERATED ALWAYS AS (array_to_tsvector(history_words(content))) STORED;
COMMENT ON COLUMN messages.words IS 'of its text, for the search of a history';
CREATE INDEX messages_words ON messages USING gin (words);
