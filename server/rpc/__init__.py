"""The servicers of the engine, one for each service of the contract: check, delegate, answer."""
