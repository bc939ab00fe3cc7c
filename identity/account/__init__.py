"""What people do with their own account: they prove once more who they are, change it, and leave."""
