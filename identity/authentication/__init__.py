"""Sign-in: authorization requests, passwords, passkeys, codes and upstream providers."""
