"""Countries and autonomous systems of network addresses, and rules about them."""
