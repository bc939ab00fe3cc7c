"""The tenants that are kept, beside those of the configuration: who has an issuer, at which host, with which settings."""
