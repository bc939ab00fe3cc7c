"""Signing keys and signatures: RFC 7515, RFC 7517, RFC 7518.

Pure: callers supply key ids and threads.
"""
