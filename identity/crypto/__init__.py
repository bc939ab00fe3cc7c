"""Signing keys, key sets and signed documents."""
