"""What decides an expectation."""
