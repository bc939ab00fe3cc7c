"""Authentication: from a bearer token to a principal.

Keys and principals come from the provider through a channel; nothing here knows how it keeps them.
"""
