"""Servicers of the protocol endpoints."""
