"""Uploaded images: decoded and written anew, kept with whom they show, and handed out."""
