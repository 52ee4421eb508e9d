"""Analyst, skill improver, drafting."""
