"""Coding agents: one adapter a file, found by entry point; and how their processes are run and ended."""
