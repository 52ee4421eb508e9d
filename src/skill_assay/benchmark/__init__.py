"""The numbers: aggregation, inference over trials, iteration against iteration, gates."""
