"""Links in mails, by which a user does something once."""
