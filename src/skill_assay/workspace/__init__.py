"""What is on disk: the store, the journal, and the discovery of foreign layouts."""
