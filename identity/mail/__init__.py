"""Letters to people, kept until the mail server has taken them."""
