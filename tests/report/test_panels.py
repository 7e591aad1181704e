"""What the figure and the page say of projections alike."""

from evergraph.report.panels import class_names, measures_text, panel_columns

from .test_projection_plot import projection


def test_panels_stand_in_one_row_or_in_a_square() -> None:
    assert [panel_columns(panels) for panels in (1, 2, 3, 4, 5, 9, 30)] == [1, 2, 3, 2, 3, 3, 4]


def test_classes_are_those_of_all_projections_in_the_order_of_their_labels() -> None:
    other = projection(classes=[[10, "ten"], [2, "class2"]], labels=[10, 2] * 30)
    assert list(class_names([other, projection()]).items()) == [
        (0, "class0"),
        (1, "class1"),
        (2, "class2"),
        (10, "ten"),
    ]


def test_measures_are_rounded_and_a_missing_one_is_a_dash() -> None:
    assert measures_text(projection()) == "silhouette −0.13 · neighbours alike 85.7 %"
    assert measures_text(projection(silhouette=None)).startswith("silhouette – ")
