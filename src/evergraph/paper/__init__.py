"""Everything that knows Pang et al. (ACM MM 2024): published values, targets, tables, figures."""

TARGET_NAMES = {
    "table2": "main-results",
    "table3": "components",
    "table4": "feature-scores",
    "table5": "topology-scores",
    "table6": "cost",
    "fig-curves": "accuracy-curves",
    "fig-matrices": "accuracy-matrices",
    "fig-beta": "beta-sensitivity",
    "fig-tsne": "embeddings",
}
"""Tables and figures by number and by descriptive name."""
