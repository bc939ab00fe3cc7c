"""Forward authentication by cookies: the provider is the relying party of services behind a proxy."""
