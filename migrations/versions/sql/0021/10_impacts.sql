-- Segments are indexed by the weight of their terms too: text/terms.py, with_impacts. Those that are there already get
-- their keys from maintenance (tools/retrieval/impacts.py), document by document; until then a search reads as before.
ALTER TABLE library_statistics ADD COLUMN impacts_from uuid;
COMMENT ON COLUMN library_statistics.impacts_from IS 'documents from here on may have segments without impact keys; null where all have them';
UPDATE library_statistics SET impacts_from = '00000000-0000-0000-0000-000000000000' WHERE segments > 0;
COMMENT ON COLUMN segments.terms IS 'ids of text/terms.py, ascending, which pick candidates; behind them negative impact keys, for terms of high weight';
