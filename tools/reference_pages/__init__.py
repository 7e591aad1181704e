"""The pages below docs/reference, each made from the code by one module."""
