"""Users, groups and roles: administration, self-service, registration and password reset."""
