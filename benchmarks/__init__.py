"""Measurements: speed of the core and strength of the players."""
