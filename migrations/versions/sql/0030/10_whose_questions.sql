-- Guides and questions that follow answers say whose questions they are.
--
-- What was made with questions by rule, which a process of the release before still makes, is made anew when it is wanted.
ALTER TABLE document_guides ADD COLUMN made_by text NOT NULL DEFAULT 'rules';
COMMENT ON COLUMN document_guides.made_by IS 'whose questions it has, as the deployment wanted them: documents, model or off';
ALTER TABLE follow_ups ADD COLUMN made_by text NOT NULL DEFAULT 'rules';
COMMENT ON COLUMN follow_ups.made_by IS 'whose questions they are, as the deployment wanted them: documents or model';
