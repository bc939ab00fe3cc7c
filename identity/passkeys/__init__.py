"""Passkeys: keys of people that their authenticators keep, Web Authentication Level 3."""
