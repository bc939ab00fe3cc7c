"""Common base of all parts of the provider: tenants, vocabulary, errors, events and randomness."""
