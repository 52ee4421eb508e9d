"""Adapters for coding agents, and how their processes are started and ended."""
