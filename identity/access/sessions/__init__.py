"""Browser sessions, which begin before the sign-in and are replaced by it."""
