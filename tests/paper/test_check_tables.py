"""Tables of what was checked."""

from evergraph.paper.check_tables import settings_table
from evergraph.results.records import SmallRecord

from .made_records import record


def test_settings_stand_beside_each_other() -> None:
    def run(norm: str, epochs: int, feature: str, topology: str, aa: float) -> SmallRecord:
        method = {"name": "ftf-er-det", "feature_score": feature, "topology_score": topology}
        stream, train = {"preprocessing": "row-l2"}, {"epochs": epochs}
        return record(method, aa, backbone={"norm": norm}, stream=stream, train=train)

    table = settings_table(
        [
            run("sum", 200, "random", "none", 90.0),
            run("sum", 200, "grand", "hps", 70.0),
            run("sum", 30, "grand", "hps", 80.0),
        ]
    )
    assert "| sum, row-l2, 30 | – | 80.0 / -20.0 | – | – |" in table
    assert "| sum, row-l2, 200 | 90.0 / -10.0 | 70.0 / -30.0 | – | – |" in table
