"""Where the provider keeps its records."""
