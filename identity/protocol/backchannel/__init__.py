"""Authentication of a user who is elsewhere, at the request of a client: CIBA Core 1.0."""
