"""Sign-in through upstream providers: OpenID Connect Core 1.0, with this provider as the relying party."""
