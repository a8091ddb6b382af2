"""Pure text rules, each defined in one place."""
