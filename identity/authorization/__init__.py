"""The authorization endpoint: a request is checked and kept, and every way to sign in ends at one dispatcher."""
