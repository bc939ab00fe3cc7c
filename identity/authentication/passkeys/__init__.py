"""Passkeys of users: Web Authentication Level 3."""
