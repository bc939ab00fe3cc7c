"""The provider's own keys: signing keys of each tenant, and master keys for secrets at rest.

This package exports only public keys, signatures, and keys derived for a purpose.
"""
