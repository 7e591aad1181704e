"""A column of numbers: scaled, cut, and compared with the first batch."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from evergraph.tables.column import CUT, ENOUGH, About, Column, Encoded
from evergraph.tables.order import Sliced, exact_sum, median, present_blocks
from evergraph.tables.table import LARGEST, Table
from evergraph.tables.values import Content

HEAVY = 20.0
"""The largest magnitude over the median one from which a column is taken as a logarithm."""
FAR, SPREAD = 3.0, 5.0
"""A column of at least ENOUGH numbers is unlike the first batch's if its median is FAR standard deviations away or
outside of 96 % of that batch's, or if its spread is SPREAD times as wide or narrow: often in another unit."""
SHARES = (0.02, 0.1, 0.5, 0.9, 0.98)


class NumberColumn(Column):
    """Numbers x, as z = (f(x) - mean) / deviation, cut at ±CUT, with f(x) = x or sign(x) log(1 + |x| / unit).

    count, total, squares: n, Σ (f(x) - centre) and Σ (f(x) - centre)² of all values so far; centre: a fixed number
    near the mean, so that nothing cancels. scaled: where false, features are the numbers as given.
    quantiles: of f(x) in the first batch, at SHARES; none in models of before.
    """

    kind: Literal["number"] = "number"
    unit: float | None = Field(None, gt=0)
    scaled: bool = True
    centre: float = 0.0
    count: int = Field(1, ge=1)
    total: float = 0.0
    squares: float = Field(0.0, ge=0)
    quantiles: tuple[float, float, float, float, float] | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name, *self.gap_name)

    @property
    def mean(self) -> float:
        """centre + total / n."""
        return self.centre + self.total / self.count

    @property
    def deviation(self) -> float:
        """√(squares / n - (total / n)²)."""
        return float(np.sqrt(max(self.squares / self.count - (self.total / self.count) ** 2, 0.0)))

    @classmethod
    def fit(cls, name: str, numbers: Sliced, *, gaps: bool, scaled: bool) -> "NumberColumn":
        """From finite numbers, NaN where one is missing; quantiles only of what is in memory."""
        unit = _unit(numbers) if scaled else None

        def taken() -> Iterator[NDArray[np.float64]]:
            return (_transformed(part, unit) for part in present_blocks(numbers))

        count = sum(len(part) for part in present_blocks(numbers))
        centre = exact_sum(float(part.sum()) for part in taken()) / count
        shares = None
        if isinstance(numbers, np.ndarray):
            shares = tuple(np.quantile(_transformed(numbers[~np.isnan(numbers)], unit), SHARES).tolist())
        return cls(
            name=name,
            gaps=gaps,
            unit=unit,
            scaled=scaled,
            centre=centre,
            count=count,
            total=exact_sum(float((part - centre).sum()) for part in taken()),
            squares=exact_sum(float((part - centre) @ (part - centre)) for part in taken()),
            quantiles=shares,
        )

    def _added(self, taken: NDArray[np.float64]) -> "NumberColumn":
        off = taken - self.centre
        sums = {
            "count": self.count + len(off),
            "total": self.total + float(off.sum()),
            "squares": self.squares + float(off @ off),
        }
        return self.model_copy(update=sums)

    def updated(self, table: Table) -> "NumberColumn":
        """With the numbers of a later table added to the sums."""
        numbers = self._numbers(table)
        return self._added(_transformed(numbers[~np.isnan(numbers)], self.unit))

    def _numbers(self, table: Table) -> NDArray[np.float64]:
        values = table.values(self.name)
        if values.missing.all():
            self.refuse_gaps(table, values)
            return np.full(table.n_rows, np.nan)
        if values.content is not Content.NUMBERS:
            row = table.first_other(self.name)
            raise table.refusal(row, self.name, "a number as in the first batch", "; mend it or learn a new model")
        assert values.numbers is not None
        self.refuse_gaps(table, values)
        return finite(table, self.name, values.numbers)

    def encode(self, table: Table) -> Encoded:
        numbers = self._numbers(table)
        features, far = self.features(numbers)
        missing = np.isnan(numbers)
        remarks = {}
        if self.scaled and self.deviation > 0:
            taken = _transformed(numbers[~missing], self.unit)
            if self._unlike(taken, (taken - self.mean) / self.deviation):
                remarks[About.UNLIKE] = (
                    f"{table.name}: {self.name!r} is unlike the first batch's: median {np.nanmedian(numbers):.4g} "
                    f"here, about {self._typical:.4g} there; is it in the same unit?"
                )
            elif far:
                remarks[About.CUT] = self.cut_remark(table.name, far)
        if missing.all():
            remarks[About.MISSING] = f"{table.name}: all {len(missing):,} values of {self.name!r} are missing"
        return features, remarks

    def features(self, numbers: NDArray[np.float64]) -> tuple[NDArray[np.float32], int]:
        """Features of numbers, NaN where one is missing, and how many were cut."""
        missing = np.isnan(numbers)
        taken = _transformed(numbers, self.unit)
        far = 0
        if self.scaled:
            deviation = self.deviation
            z = (taken - self.mean) / deviation if deviation > 0 else np.zeros_like(taken)
            far = int(np.count_nonzero(np.abs(z) > CUT))
            taken = np.clip(z, -CUT, CUT)
        taken = np.where(missing, 0.0 if self.scaled else self.mean, taken)
        return self.with_gaps(taken[:, None].astype(np.float32), missing), far

    def cut_remark(self, table: str, far: int) -> str:
        """What is said of values that were cut."""
        return f"{table}: {far:,} values of {self.name!r} cut at {CUT:g} standard deviations"

    def _unlike(self, taken: NDArray[np.float64], z: NDArray[np.float64]) -> bool:
        """Whether numbers are hardly those of this column as it was in the first batch."""
        if len(z) < ENOUGH:
            return False
        if abs(np.median(z)) > FAR:
            return True
        if self.quantiles is None:
            return False
        least, low, _, high, most = self.quantiles
        now_low, middle, now_high = np.quantile(taken, SHARES[1:4])
        wide, now_wide = high - low, now_high - now_low
        outside = most > least and not least <= middle <= most
        return bool(outside or (wide > 0 and not wide / SPREAD < now_wide < wide * SPREAD))

    @property
    def _typical(self) -> float:
        """The number whose f is the mean."""
        mean = self.mean
        return mean if self.unit is None else float(np.sign(mean) * self.unit * np.expm1(abs(mean)))

    @property
    def treatment(self) -> str:
        """What is done to the column, in a few words."""
        if not self.scaled:
            return "numbers as given"
        return "scaled numbers" if self.unit is None else "numbers of a wide range, their scaled logarithm"

    def filled(self, table: Table) -> int:
        """The features of a table that are not zero."""
        return table.n_rows if self.scaled else int(np.count_nonzero(self.encode(table)[0]))

    def described(self) -> str:
        if not self.scaled:
            return f"{self.name}: number, as given{self.gaps_described()}"
        log = "" if self.unit is None else f"wide range, so sign(x) log(1 + |x| / {self.unit:.4g}), then "
        filled = "; missing values become the mean and are marked in a feature of their own" if self.gaps else ""
        scaling = f"scaled (mean {self.mean:.4g}, standard deviation {self.deviation:.4g})"
        return f"{self.name}: number, {log}{scaling}, cut at ±{CUT:g}{filled}"


def finite(table: Table, name: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers, and NaN for missing ones; anything that 32 bits cannot hold raises."""
    bad = np.flatnonzero(np.abs(np.nan_to_num(numbers, posinf=np.inf, neginf=-np.inf)) > LARGEST)
    if len(bad):
        raise table.too_large(int(bad[0]), name, numbers[bad[0]])
    return numbers


def _unit(numbers: Sliced) -> float | None:
    """The median magnitude, zeros apart, of a column whose largest is HEAVY times that; None for any other."""

    def sizes() -> Iterator[NDArray[np.float64]]:
        return (np.abs(part[part != 0]) for part in present_blocks(numbers))

    largest = max((float(part.max(initial=0.0)) for part in sizes()), default=0.0)
    if not largest:
        return None
    middle = median(sizes) if not isinstance(numbers, np.ndarray) else float(np.median(np.concatenate([*sizes()])))
    with np.errstate(over="ignore"):
        wide = HEAVY < np.float64(largest) / middle < np.inf  # beyond, a logarithm of the ratio is none
    return middle if wide and largest > HEAVY * middle else None


def _transformed(numbers: NDArray[np.float64], unit: float | None) -> NDArray[np.float64]:
    """f(x) = x, or sign(x) log(1 + |x| / unit)."""
    return numbers if unit is None else np.sign(numbers) * np.log1p(np.abs(numbers) / unit)
