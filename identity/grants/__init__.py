"""Grants at the token endpoint: RFC 6749 §4.

The pipeline owns what every grant shares, so that none can forget it: client authentication, whether the client may
use the grant, scopes, signing. A grant is a small class that says who gets the token; the table lists them all.
"""
