"""Forward authentication by cookies: the provider acts as the relying party of services behind a proxy."""
