"""Authentication: converts a credential into a principal.

Keys and principals come from the OpenID provider through a channel, independent of how the provider stores
them.
"""
