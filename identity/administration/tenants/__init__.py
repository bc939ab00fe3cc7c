"""Administration of tenants and their sign-in domains."""
