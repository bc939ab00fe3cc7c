"""Servicers about users."""
