"""Second factors beside a password: passkeys and codes behind one interface."""
