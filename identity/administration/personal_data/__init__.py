"""Everything that the provider stores about one person: its export and its erasure."""
