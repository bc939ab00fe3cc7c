"""Tokens that only the holder of a key can use: RFC 9449."""
