"""The authorization endpoint: validates and stores requests; every way to sign in ends at one conclusion."""
