"""HTTP requests that the provider makes, and their permitted destinations."""
