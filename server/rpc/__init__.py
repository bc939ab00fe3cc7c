"""One servicer for each service of the contract: check, delegate, answer."""
