"""A local web page over a workspace."""
