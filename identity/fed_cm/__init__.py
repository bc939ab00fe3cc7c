"""Signing in where the browser itself asks people: W3C Federated Credential Management."""
