"""Webhooks: security events are posted to addresses of a tenant (Standard Webhooks 1.0)."""
