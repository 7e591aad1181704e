"""Tables and figures: they read the store and never train."""
