"""Servicers of API keys, blocked addresses and proof of work, and the callers of all administration."""
