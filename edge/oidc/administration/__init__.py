"""Endpoints of the administration API and of self-service accounts."""
