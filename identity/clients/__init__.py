"""Clients and how they prove who they are: RFC 6749 §2."""
