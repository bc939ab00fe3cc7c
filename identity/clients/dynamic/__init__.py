"""Dynamic client registration, RFC 7591, and its management, RFC 7592."""
