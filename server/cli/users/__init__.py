"""`gnomon users`: import accounts from another provider, and export them."""
