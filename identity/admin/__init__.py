"""What administrators do: people, clients and what they may, each change told of."""
