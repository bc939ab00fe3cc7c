"""Second factors by code: one-time codes, RFC 6238, and recovery codes."""
