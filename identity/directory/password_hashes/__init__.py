"""Password hashes of other systems, with which imported users sign in once."""
