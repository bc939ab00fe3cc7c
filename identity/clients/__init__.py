"""Clients and client authentication: RFC 6749 §2."""
