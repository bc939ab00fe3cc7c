"""People are told of what happened to their account, and say when it was not them."""
