"""`gnomon diagram`: the diagram of a process as SVG or PNG, with the tokens of an instance or of all instances."""
