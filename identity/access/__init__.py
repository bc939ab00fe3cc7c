"""Callers and what they present: sessions, tokens, API keys and client credentials; protection against guessing."""
