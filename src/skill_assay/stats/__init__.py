"""Statistics: arrays in, frozen results out. The only room that imports numpy and scipy, on first use."""
