"""Sessions and answers as files to take along: Markdown, Word, and a report that proves each claim by itself."""
