"""What is kept of past tasks: buffer, selection, neighbours."""
