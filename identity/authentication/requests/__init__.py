"""Parameters of authorization requests and their validation."""
