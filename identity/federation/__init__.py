"""Upstream providers, which vouch for people: OpenID Connect Core 1.0 with us as the relying party."""
