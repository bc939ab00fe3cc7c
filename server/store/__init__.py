"""Stores of rows and searches behind one port: in memory for the embedded mode, PostgreSQL for the durable modes."""
