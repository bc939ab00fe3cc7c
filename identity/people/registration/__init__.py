"""Self-registration of users, and confirmation of their e-mail addresses."""
