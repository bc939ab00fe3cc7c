"""Composes what belongs to single clients: their screens and their SAML settings."""
