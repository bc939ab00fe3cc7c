"""Endpoints of OAuth 2.0 and OpenID Connect."""
