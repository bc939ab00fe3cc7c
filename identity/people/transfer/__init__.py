"""Accounts that come from another provider or go to one, with password hashes and second factors."""
