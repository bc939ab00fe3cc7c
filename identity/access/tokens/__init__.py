"""Tokens that the provider issues: RFC 7519, RFC 9068."""
