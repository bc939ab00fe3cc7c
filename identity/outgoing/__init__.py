"""Requests that the provider itself makes, and where they may go."""
