"""Servicers of the sign-in."""
