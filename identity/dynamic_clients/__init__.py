"""Clients that register themselves: RFC 7591, and look after it themselves: RFC 7592."""
