"""What people let clients have, remembered until they take it back."""
