"""The pictures of docs/explanation, each drawn from a real computation or from committed results."""
