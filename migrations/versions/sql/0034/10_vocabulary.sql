-- Keep the words of each library, to which a mistyped word of a question is near; reindexing fills in older ones.
--
-- The words of a workspace's texts, as text/near_words.py lists them. One that no segment has any more may stay for a
-- while: before a reader is told a word, a text is looked for that has it and that they may read.
CREATE TABLE vocabulary (
    workspace integer NOT NULL,
    word      text COLLATE "C" NOT NULL,
    term      integer NOT NULL,
    PRIMARY KEY (workspace, word)
);
CREATE INDEX vocabulary_endings ON vocabulary (workspace, (reverse(word)) COLLATE "C");
COMMENT ON COLUMN vocabulary.term IS 'the id of the word among the terms of segments';

ALTER TABLE library_statistics ADD COLUMN terms_version smallint NOT NULL DEFAULT 2;
COMMENT ON COLUMN library_statistics.terms_version IS 'TERMS_VERSION of text/terms.py when all its segments were weighed';
UPDATE library_statistics SET terms_version = 1 WHERE segments > 0;
