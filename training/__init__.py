"""Training by self-play on the batched core."""
