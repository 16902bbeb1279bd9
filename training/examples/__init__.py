"""Examples that run: ``python -m slopes_training.examples.NAME --help``."""
