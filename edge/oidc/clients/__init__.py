"""Endpoints about clients."""
