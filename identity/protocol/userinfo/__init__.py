"""The userinfo endpoint, and forward authentication by access token for services behind a proxy."""
