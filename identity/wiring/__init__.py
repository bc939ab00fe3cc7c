"""Composes the parts of the provider."""
