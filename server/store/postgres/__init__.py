"""The store and the ledgers of the durable modes: PostgreSQL."""
