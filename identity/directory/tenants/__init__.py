"""Stored tenants, in addition to the configured ones: their issuers, hostnames and settings."""
