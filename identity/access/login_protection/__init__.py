"""Sign-in with a password, and protection against guessing."""
