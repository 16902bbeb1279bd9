"""Where a figure comes from: the commit of the code that measured it."""

from slopes_training.provenance import commit

__all__ = ["commit"]
