"""Sign-in with the password of an LDAP directory: search for the user, then a bind as the user (RFC 4513 §5.1)."""
