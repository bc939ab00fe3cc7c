"""Links by which people choose a password without knowing one, and what they lead to."""
