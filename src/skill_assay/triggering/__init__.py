"""Trigger evaluation, splits, the description optimiser."""
