"""The games, one file each."""
