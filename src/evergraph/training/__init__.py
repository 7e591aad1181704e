"""The optimiser loop and the model that grows with the classes."""
