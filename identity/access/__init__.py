"""Callers and their credentials: sessions, tokens, API keys and client credentials; protection against guessing."""
