"""Password hashes of other systems, which users of an import sign in with once."""
