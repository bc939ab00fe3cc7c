"""Endpoints of the sign-in pages."""
