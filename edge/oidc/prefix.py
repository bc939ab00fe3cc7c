"""Path below which the provider's endpoints stand."""

PREFIX = "/auth/v1"
