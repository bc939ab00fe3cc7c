"""Import of accounts from another provider and export, with password hashes and second factors."""
