"""Upload and delivery of images."""
