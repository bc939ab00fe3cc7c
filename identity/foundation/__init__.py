"""What every part of the provider stands on: tenants, vocabulary, errors, events and randomness."""
