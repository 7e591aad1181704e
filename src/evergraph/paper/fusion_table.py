"""What the two scores give together: selection and orientation by β, and the runs to compare with."""

from collections.abc import Mapping
from typing import Any

from evergraph.methods import METHODS
from evergraph.paper.exhibit import markdown_table
from evergraph.paper.record_cells import Records, cell
from evergraph.results.records import grouped


def fusion_table(records: Records) -> str:
    """Rows: selection and orientation; columns: β. Then the runs to compare with."""
    scores = ("method.feature_score", "method.topology_score")
    groups = grouped(records, ("method.name", *scores, "method.orientation", "method.beta"))
    fused = {(key[0], *key[3:]): runs for key, runs in groups.items() if key[1:3] == ("grand", "hps")}
    betas = sorted({key[2] for key in fused})
    rows = []
    for selection, orientation in sorted({key[:2] for key in fused}, key=lambda key: (key[0], key[1] != "paper")):
        found = [fused.get((selection, orientation if beta else "paper", beta), []) for beta in betas]
        rows.append([f"{selection}, {orientation}", *(cell(runs) if runs else "" for runs in found)])
    table = markdown_table(["AA / AF, %", *(f"β = {beta:g}" for beta in betas)], rows)
    seeds = max(len(runs) for runs in groups.values())
    lines = [
        f"- {name}: {cell(runs)}" + ("" if len(runs) == seeds else f" (seeds: {len(runs)})")
        for name, runs in _beside_fusion(groups)
    ]
    intro = f"Beside it, with the same data, budget and seeds ({seeds} seeds each):"
    return "\n".join([table, "", intro, "", *lines])


def _beside_fusion(groups: Mapping[tuple[Any, ...], Records]) -> list[tuple[str, Records]]:
    """Runs without the potential, with their names."""
    named = []
    for (method, feature, topology, _, beta), runs in groups.items():
        if feature == "random" and topology == "none":
            named.append(("random selection", runs))
        elif topology == "random":
            named.append((f"{method}, GraNd and noise in the place of the potential, β = {beta:g}", runs))
        elif feature is None:
            named.append((method, runs))
    return sorted(named, key=lambda entry: entry[0] in METHODS)
