"""One-time codes of people, RFC 6238, and recovery codes: second factors beside a password."""
