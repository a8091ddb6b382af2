ALTER TABLE spending DROP CONSTRAINT spending_kind_check,
    ADD CONSTRAINT spending_kind_check CHECK (kind IN ('run', 'verification', 'suggestion', 'title'));
