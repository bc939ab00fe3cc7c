"""Connections to LDAP directory servers: messages, TLS, pools, and other servers when one fails (RFC 4511)."""
