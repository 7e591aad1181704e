"""ContinualClassifier and adapters for other libraries."""
