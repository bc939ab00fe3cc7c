"""Grants at the token endpoint: RFC 6749 §4.

The pipeline implements the steps that all grants share, so that no grant can skip one: client authentication, permitted
grant types, scopes and signing. A grant is a small class that determines the subject of the tokens. The table lists all
grants.
"""
