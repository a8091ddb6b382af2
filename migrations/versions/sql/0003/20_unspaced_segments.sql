-- Bigrams of scripts without spaces are weighed among the segments of such scripts: tools/terms.py, UNSPACED_TERM.
UPDATE segments SET terms = array_append(terms, 999999938)
WHERE body ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]';
INSERT INTO term_statistics (workspace, term, segments)
SELECT workspace, 999999938, count(*) FROM segments WHERE terms @> ARRAY[999999938]
GROUP BY workspace HAVING count(*) >= 200;
