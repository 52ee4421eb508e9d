"""Skill Assay: measures what an Agent Skill is worth, with real agents and honest statistics."""

__version__ = "0.1.0"

__all__ = ["__version__"]
