"""Servicers about clients."""
