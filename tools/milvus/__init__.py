"""An index of candidates in Milvus, filled and healed from PostgreSQL."""
