"""Plain data, and the few seams. No input or output, no clock, nothing that costs time to import."""
