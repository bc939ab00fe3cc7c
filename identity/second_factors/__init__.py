"""What people prove beside a password, by passkeys and by codes: one notion for all who ask for a second factor."""
