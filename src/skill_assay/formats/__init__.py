"""Other people's files to our model, and back."""
