"""Introspection and revocation of tokens."""
