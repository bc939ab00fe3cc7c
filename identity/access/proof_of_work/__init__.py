"""Proof of work that a browser does before a costly request."""
