"""Path prefix of the provider's endpoints."""

PREFIX = "/auth/v1"
