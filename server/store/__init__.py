"""Where entities rest and are searched: one port, a memory store now, PostgreSQL with the durable modes."""
