"""Who is behind an access token: the userinfo endpoint, and forward authentication for services behind a proxy."""
