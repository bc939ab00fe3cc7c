"""People make their own accounts, and confirm that the address is theirs."""
