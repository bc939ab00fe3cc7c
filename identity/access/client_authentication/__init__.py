"""Client authentication at the endpoints of the protocol: OpenID Connect Core 1.0 §9."""
