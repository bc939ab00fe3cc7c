"""The provider's own keys: those that sign tokens, of each tenant, and those that keep them secret at rest.

Nothing leaves this package but public keys, signatures, and keys derived for a purpose.
"""
