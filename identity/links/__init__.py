"""Links in letters, by which a person does something once."""
