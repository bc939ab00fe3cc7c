"""Endpoints of OAuth 2.0 and OpenID Connect behind the sign-in: tokens, user info, logout, devices, FedCM."""
