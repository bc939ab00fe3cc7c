"""Administration of users, clients, labels, API keys, sessions and sign-in providers. Each change emits an event."""
