"""Everything that knows Pang et al. (ACM MM 2024): published values, targets, tables, figures."""
