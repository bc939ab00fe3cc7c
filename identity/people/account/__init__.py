"""Self-service of users: confirm their identity again, change their account, delete it."""
