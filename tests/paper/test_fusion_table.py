"""The table of both scores together."""

from evergraph.paper.fusion_table import fusion_table

from .made_records import record


def test_tables_show_every_group_once() -> None:
    base = {"name": "ftf-er-det", "feature_score": "grand", "topology_score": "hps", "orientation": "paper"}
    records = [record({**base, "beta": beta}, aa) for beta, aa in ((0.0, 80.0), (0.5, 90.0), (0.5, 92.0))]
    records += [record({**base, "orientation": "opposite", "beta": 0.5}, 70.0)]
    chance = {**base, "feature_score": "random", "topology_score": "none", "beta": 0.0}
    records += [record({"name": "joint"}, 97.0), record(chance, 93.0)]
    records += [record({**base, "topology_score": "random", "beta": 0.5}, aa) for aa in (94.0, 96.0)]
    table = fusion_table(records)
    assert "| ftf-er-det, paper | 80.0 / -20.0 | 91.0 ± 1.4 / -9.0 ± 1.4 |" in table
    assert "| ftf-er-det, opposite | 80.0 / -20.0 | 70.0 / -30.0 |" in table
    assert table.endswith(
        "- random selection: 93.0 / -7.0 (seeds: 1)\n"
        "- ftf-er-det, GraNd and noise in the place of the potential, β = 0.5: 95.0 ± 1.4 / -5.0 ± 1.4\n"
        "- joint: 97.0 / -3.0 (seeds: 1)"
    )
