"""Sender-constrained tokens, which need a proof of possession: RFC 9449."""
