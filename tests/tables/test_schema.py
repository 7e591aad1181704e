"""The feature schema: what each column becomes, and that later batches are encoded alike."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy import sparse

from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.tables import Batch, FeatureSchema, Table, batch_from_arrays, batch_from_tables
from evergraph.tables.column import CUT
from evergraph.tables.number_column import NumberColumn
from helpers import one_sentence


def batch(**columns: Any) -> Batch:
    made = {}
    for name, values in columns.items():
        column = values if isinstance(values, np.ndarray) else np.empty(len(values), dtype=object)
        if column is not values:
            column[:] = values
        made[name] = column
    n = len(next(iter(made.values())))
    return batch_from_tables(Table("nodes", made), None, ids=np.arange(n) + 1000)


def dense(features: Any) -> NDArray[np.float32]:
    return features if isinstance(features, np.ndarray) else np.asarray(features.toarray())


RNG = np.random.default_rng(0)
N = 40
AGE = RNG.normal(40, 10, N)
PLAN = ["gold", "basic"] * (N // 2)


def test_numbers_are_scaled_flags_and_categories_encoded() -> None:
    first = batch(age=AGE, plan=PLAN, active=np.arange(N) % 3 == 0, bit=np.arange(N) % 2)
    schema = FeatureSchema.fit(first)
    assert schema.feature_names == ("age", "plan=basic", "plan=gold", "active", "bit")
    found = dense(schema.encode(first))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, 0], (AGE - AGE.mean()) / AGE.std(), rtol=1e-5)
    assert found[:2, 1:3].tolist() == [[0, 1], [1, 0]]
    assert found[:3, 3].tolist() == [1, 0, 0]
    assert found[:3, 4].tolist() == [0, 1, 0]
    assert schema.describe() == [
        f"age: number, scaled (mean {AGE.mean():.4g}, standard deviation {AGE.std():.4g}), cut at ±10",
        "plan: category of 2 ('basic', 'gold')",
        "active: flag, 0 or 1",
        "bit: flag, 0 or 1",
    ]


def test_what_is_no_feature_is_left_out_by_name() -> None:
    lists = np.empty(N, dtype=object)
    lists[:] = [[k] for k in range(N)]
    first = batch(
        **{
            "Unnamed: 0": np.arange(N) * 3,
            "__index_level_0__": np.arange(N) * 3,
            "": np.arange(N) * 3,
            "index": np.arange(N),
            "number": np.arange(N) + 1,
            "again": np.arange(N) + 1000,
            "day": np.arange(N).astype("datetime64[D]"),
            "written": [f"2024-01-{1 + k % 28:02}" for k in range(N)],
            "same": np.ones(N),
            "word": ["x"] * N,
            "name": [f"n{k}" for k in range(N)],
            "nothing": [None] * N,
            "lists": lists,
            "comma": [f"{k},5" for k in range(N)],
            "age": AGE,
        }
    )
    schema = FeatureSchema.fit(first)
    assert schema.feature_names == ("age",)
    assert schema.left_out == {
        "Unnamed: 0": "row numbers",
        "__index_level_0__": "row numbers",
        "": "row numbers",
        "index": "row numbers",
        "number": "row numbers",
        "again": "the ids again",
        "day": "dates",
        "written": "dates",
        "same": "always the same",
        "word": "always the same",
        "name": f"text with {N} different values",
        "nothing": "empty",
        "lists": "neither numbers nor text",
        "comma": "numbers with a decimal comma; write a point",
    }
    assert "a column without a name (row numbers)" in schema.describe()[-1]


def test_a_wide_range_is_taken_as_a_logarithm() -> None:
    revenue = np.exp(RNG.normal(9, 3, N)) * np.where(np.arange(N) % 5, 1, -1)
    schema = FeatureSchema.fit(batch(revenue=revenue))
    (column,) = schema.columns
    assert isinstance(column, NumberColumn)
    assert column.unit == pytest.approx(np.median(np.abs(revenue)))
    taken = np.sign(revenue) * np.log1p(np.abs(revenue) / np.median(np.abs(revenue)))
    found = dense(schema.encode(batch(revenue=revenue)))
    np.testing.assert_allclose(found[:, 0], (taken - taken.mean()) / taken.std(), rtol=1e-5)
    assert "wide range, so sign(x) log(1 + |x| / " in schema.describe()[0]
    other = FeatureSchema.fit(batch(revenue=revenue * 1e6))  # in cents or in millions: the same features
    np.testing.assert_allclose(dense(other.encode(batch(revenue=revenue * 1e6))), found, rtol=1e-4)


def test_far_values_are_cut_and_said() -> None:
    schema = FeatureSchema.fit(batch(age=AGE))
    found, remarks = schema.encode_with_remarks(batch(age=[1e9, 40.0, -1e9]))
    assert dense(found)[[0, 2], 0].tolist() == [CUT, -CUT]
    assert remarks == ("nodes: 2 values of 'age' cut at 10 standard deviations",)
    many = FeatureSchema.fit(batch(a=AGE, b=AGE, c=AGE, d=AGE))
    _, remarks = many.encode_with_remarks(batch(a=[1e9], b=[1e9], c=[1e9], d=[40.0]))
    assert remarks == ("nodes: values cut at 10 standard deviations in 3 columns: a, b, c",)


@pytest.mark.parametrize("first", [AGE, np.exp(AGE / 8)], ids=["plain", "wide range"])
@pytest.mark.parametrize("factor", [1000, 1 / 1000, 1 / 100], ids=["larger", "smaller", "in hundreds"])
def test_another_unit_is_asked_about(first: NDArray[np.float64], factor: float) -> None:
    schema = FeatureSchema.fit(batch(revenue=first, age=AGE))
    _, remarks = schema.encode_with_remarks(batch(revenue=first * factor, age=AGE))
    (remark,) = remarks
    shown = f"{np.median(first * factor):.4g}"
    assert remark.startswith(f"nodes: 'revenue' is unlike the first batch's: median {shown} here, about ")
    assert remark.endswith("is it in the same unit?")
    assert not schema.encode_with_remarks(batch(revenue=first[:20], age=AGE[:20]))[1]
    few = schema.encode_with_remarks(batch(revenue=first[:5] / 1000, age=AGE[:5]))[1]
    assert not few, "five values alike are no reason to ask"


def test_years_instead_of_months_are_asked_about() -> None:
    schema = FeatureSchema.fit(batch(age=AGE))
    assert "is it in the same unit?" in schema.encode_with_remarks(batch(age=AGE / 12))[1][0]
    assert not schema.encode_with_remarks(batch(age=AGE * 1.2))[1]
    older = schema.model_copy(update={"columns": (schema.columns[0].model_copy(update={"quantiles": None}),)})
    assert not older.encode_with_remarks(batch(age=AGE * 1.2))[1]


def test_what_is_unlike_in_many_columns_is_said_once() -> None:
    many = FeatureSchema.fit(batch(a=AGE, b=AGE, c=AGE, d=AGE))
    _, remarks = many.encode_with_remarks(batch(a=AGE * 50, b=AGE * 50, c=AGE * 50, d=AGE))
    assert remarks == (
        "nodes: numbers unlike those of the first batch (are they in the same unit?) in 3 columns: a, b, c",
    )


def test_mostly_new_categories_are_asked_about() -> None:
    schema = FeatureSchema.fit(batch(plan=PLAN))
    _, remarks = schema.encode_with_remarks(batch(plan=["tin"] * 30 + PLAN[:10]))
    assert remarks == (
        "nodes: 'tin' of 'plan' not in the first batch, so 30 of 40 rows have no category; is it the same column?",
    )


def test_gaps_of_the_first_batch_are_filled_and_marked() -> None:
    age = [1.0, None, 3.0, float("nan")]
    first = batch(age=age, plan=["a", None, "b", "a"], on=[True, None, False, True])
    schema = FeatureSchema.fit(first)
    assert schema.feature_names == (
        "age",
        "age (missing)",
        "plan=a",
        "plan=b",
        "plan (missing)",
        "on",
        "on (missing)",
    )
    found = dense(schema.encode(first))
    assert found[:, 0].tolist() == [-1, 0, 1, 0]
    assert found[:, 1].tolist() == [0, 1, 0, 1]
    assert found[1].tolist() == [0, 1, 0, 0, 1, 0, 1]
    assert all("feature of their own" in line for line in schema.describe())
    full = dense(schema.encode(batch(age=[1, 2], plan=["a", "b"], on=[False, True])))
    assert full[:, 1].tolist() == [0, 0]


def test_gaps_that_the_first_batch_did_not_have_are_refused() -> None:
    schema = FeatureSchema.fit(batch(age=AGE, on=np.arange(N) % 2 == 0, plan=PLAN))
    with pytest.raises(DataError, match="nodes row 2, column 'age', must be filled in, as in the first batch"):
        schema.encode(batch(age=[1, None, 3], on=[1, 0, 1], plan=["gold"] * 3))
    with pytest.raises(DataError, match="nodes row 1, column 'on', must be filled in"):
        schema.encode(batch(age=[1, 2, 3], on=[None, 0, 1], plan=["gold"] * 3))
    found, remarks = schema.encode_with_remarks(batch(age=[1, 2], on=[1, 0], plan=["gold", None]))
    assert dense(found)[1, 2:].tolist() == [0, 0]
    assert remarks == ("nodes: 1 rows without 'plan' have no category",)


def test_new_categories_and_columns_are_said() -> None:
    schema = FeatureSchema.fit(batch(age=AGE, plan=PLAN, same=np.ones(N)))
    later = batch(extra=[1, 2, 3], plan=["silver", "gold", "tin"], same=[1, 2, 3], age=[1, 2, 3])
    found, remarks = schema.encode_with_remarks(later)
    assert dense(found)[:, 1:].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert remarks == (
        "nodes: 'silver', 'tin' of 'plan' not in the first batch, so 2 of 3 rows have no category",
        "nodes: columns that the schema does not have are ignored: 'extra'",
        "nodes: columns that were always the same in the first batch stay unused: 'same'; learn a new model to use "
        "them",
    )


@pytest.mark.parametrize(
    ("first", "later", "why"),
    [
        (np.ones(N), [1, 2], "always the same"),
        ([True] * N, [True, False], "always the same"),
        (["x"] * N, ["x", "y"], "always the same"),
        (["x"] * N, ["x", None], "always the same"),
        (["2024-01-01"] * N, ["2024-01-01", "2024-01-02"], None),
        ([None] * N, [3, 4], "empty"),
        ([None] * N, ["x", None], "empty"),
        (np.ones(N), [1, 1], None),
        (["x"] * N, ["x", "x"], None),
        ([None] * N, [None, None], None),
    ],
)
def test_a_column_that_begins_to_differ_is_said_to_stay_unused(first: Any, later: Any, why: str | None) -> None:
    schema = FeatureSchema.fit(batch(age=AGE, late=first))
    features, remarks = schema.encode_with_remarks(batch(age=[1, 2], late=later))
    assert features.shape == (2, 1)
    told = f"nodes: columns that were {why} in the first batch stay unused: 'late'; learn a new model to use them"
    assert remarks == (() if why is None else (told,))
    assert not schema.encode_with_remarks(batch(age=AGE, late=first))[1]
    assert not schema.encode_with_remarks(batch(age=[1, 2]))[1], "a column that was never used may be absent"


def test_of_many_columns_that_begin_to_differ_a_few_are_named() -> None:
    schema = FeatureSchema.fit(batch(age=AGE, **{f"w{k}": np.zeros(N) for k in range(30)}))
    _, (remark,) = schema.encode_with_remarks(batch(age=[1, 2], **{f"w{k}": [0, 1] for k in range(30)}))
    assert remark.endswith(
        "stay unused: " + ", ".join(f"'w{k}'" for k in range(12)) + " and 18 more; learn a new model to use them"
    )


def typed(**columns: Any) -> Batch:
    """A batch whose columns are all of a type that says category."""
    plain = batch(**columns)
    assert isinstance(plain.attributes, Table)
    return replace(plain, attributes=replace(plain.attributes, categorical=frozenset(columns)))


def test_the_type_of_a_column_may_say_category() -> None:
    codes = [10, 20, 30, 10]
    assert FeatureSchema.fit(batch(code=codes)).feature_names == ("code",)
    schema = FeatureSchema.fit(typed(code=codes))
    assert schema.feature_names == ("code=10", "code=20", "code=30")
    assert FeatureSchema.fit(typed(code=["1", "2", "3", "1.0"])).feature_names == ("code=1", "code=2", "code=3")
    assert FeatureSchema.fit(typed(code=[0, 1, 1, None])).feature_names == ("code=0", "code=1", "code (missing)")
    assert FeatureSchema.fit(typed(code=codes), numbers=["code"]).feature_names == ("code",)
    assert FeatureSchema.fit(typed(on=[True, False, True])).describe() == ["on: flag, 0 or 1"]
    assert FeatureSchema.fit(typed(code=[7, 7, 7])).left_out == {"code": "always the same"}
    many = FeatureSchema.fit(typed(code=np.arange(51) * 2))
    assert many.left_out == {"code": "categories with 51 different values"}
    assert FeatureSchema.fit(typed(code=np.arange(51) * 2), categories=["code"]).n_features == 51
    assert FeatureSchema.fit(typed(code=np.arange(20))).left_out == {"code": "row numbers"}


def test_the_kind_that_was_learned_counts_whatever_the_type_says_later() -> None:
    codes = [10, 20, 30, 10]
    number, category = FeatureSchema.fit(batch(code=codes)), FeatureSchema.fit(typed(code=codes))
    for schema in (number, category):
        stored = FeatureSchema.from_json(schema.to_json())
        found = [dense(stored.encode(make(code=codes))).tolist() for make in (batch, typed)]
        assert found[0] == found[1] == dense(schema.encode(batch(code=codes))).tolist()
    features, remarks = category.encode_with_remarks(batch(code=[40, 50]))
    assert not dense(features).any()
    assert remarks == ("nodes: '40', '50' of 'code' not in the first batch, so 2 of 2 rows have no category",)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["1,000", "2,500", "3,100", "1,700"],
            "numbers with commas, of which 1,000 may be 1000 or 1.000; write thousands without a comma and "
            "decimals with a point",
        ),
        (["-1,000", "250", "NA", None], "numbers with commas, of which -1,000 may be -1000 or -1.000; write "),
        (["1,000", "1,000,000", "5"], "numbers with commas between thousands; write them without"),
        (["1,000.5", "2,000", "3"], "numbers with commas between thousands; write them without"),
        (["1,000", "2,000", "3.5"], "numbers with commas between thousands; write them without"),
        (["1,000", "2,5", "3"], "numbers with a decimal comma; write a point"),
        (["0,125", "0,250", "3"], "numbers with a decimal comma; write a point"),
        (["1000,125", "2000,250", "3"], "numbers with a decimal comma; write a point"),
    ],
)
def test_the_reason_says_what_commas_may_mean(words: list[str | None], reason: str) -> None:
    schema = FeatureSchema.fit(batch(amount=words))
    assert schema.left_out["amount"].startswith(reason)
    assert not schema.columns


@pytest.mark.parametrize("words", [["1,5", "1,000,000"], ["red,blue", "1,5"], ["1,5", "2,25 EUR"]])
def test_other_words_with_commas_are_words(words: list[str]) -> None:
    assert FeatureSchema.fit(batch(tags=words * 2)).n_features == 2


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"age": [1, 2], "plan": ["gold", "gold"]}, "got none called 'on' instead; add them"),
        ({"age": ["old", "young"], "plan": ["gold"] * 2, "on": [0, 1]}, "row 1, column 'age', must be a number"),
        (
            {"age": [1, "young"], "plan": ["gold"] * 2, "on": [0, 1]},
            "row 2, column 'age', must be a number .*'young'",
        ),
        (
            {"age": [True, False], "plan": ["gold"] * 2, "on": [0, 1]},
            "column 'age', must be a number as in the first",
        ),
        ({"age": [1, np.inf], "plan": ["gold"] * 2, "on": [0, 1]}, "row 2, column 'age', must be a finite number"),
        ({"age": [1, 2], "plan": [3, 4], "on": [0, 1]}, "column 'plan', must be one of 'basic', 'gold'"),
        ({"age": [1, 2], "plan": ["gold"] * 2, "on": [0, 2]}, "row 2, column 'on', must be 0 or 1"),
        ({"age": [1, 2], "plan": ["gold"] * 2, "on": ["yes", "no"]}, "row 1, column 'on', must be 0 or 1"),
    ],
)
def test_other_columns_than_before_are_one_sentence(columns: dict[str, Any], words: str) -> None:
    schema = FeatureSchema.fit(batch(age=AGE, plan=PLAN, on=np.arange(N) % 2))
    with pytest.raises(DataError, match=words) as caught:
        schema.encode(batch(**columns))
    one_sentence(caught.value)


def test_the_kind_of_a_column_can_be_said() -> None:
    first = batch(code=np.arange(N) % 3 + 10, calls=np.arange(N) % 2)
    assert FeatureSchema.fit(first).feature_names == ("code", "calls")
    schema = FeatureSchema.fit(first, numbers=["calls"], categories=["code"])
    assert schema.feature_names == ("code=10", "code=11", "code=12", "calls")
    assert schema.encode(batch(code=[10.0, 12.0], calls=[5, 0])).shape == (2, 4)
    assert dense(schema.encode(batch(code=["10", "12"], calls=[5, 0])))[:, :3].tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(DataError, match="must have a column 'nothing'"):
        FeatureSchema.fit(first, numbers=["nothing"])
    with pytest.raises(ConfigError, match="got 'code' as both"):
        FeatureSchema.fit(first, numbers=["code"], categories=["code"])
    with pytest.raises(ConfigError, match="must be a list of columns, got the text 'code'"):
        FeatureSchema.fit(first, numbers="code")
    with pytest.raises(DataError, match="column 'word', must hold numbers, got text"):
        FeatureSchema.fit(batch(word=["a", "b"]), numbers=["word"])


def test_one_word_among_numbers_is_an_error_not_a_category() -> None:
    with pytest.raises(
        DataError, match=r"nodes row 3, column 'age', must be a finite number as most .* got 'tall'"
    ):
        FeatureSchema.fit(batch(age=["1", "2", "tall", "4"]))
    FeatureSchema.fit(batch(age=["1", "2", "tall", "4"] * 3), categories=["age"])


def test_numbers_as_given_where_scaling_is_off() -> None:
    first = batch(age=[1.0, None, 4.0])
    found = dense(FeatureSchema.fit(first, scale=False).encode(first))
    assert found.tolist() == [[1, 0], [2.5, 1], [4, 0]]


def test_many_rare_flags_are_sparse() -> None:
    words = {f"w{k}": (np.arange(200) == k).astype(int) for k in range(150)}
    first = batch(**words)
    schema = FeatureSchema.fit(first)
    found = schema.encode(first)
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.float32
    assert found.nnz == 150
    assert schema.sparse
    assert isinstance(schema.encode(batch(**{name: np.ones(3, dtype=int) for name in words})), sparse.csr_array)


@pytest.mark.parametrize("as_csr", [False, True])
def test_arrays_are_taken_as_given(as_csr: bool) -> None:
    values = np.array([[1.0, 2000.0], [0.0, 5.0]], dtype=np.float32)
    adjacency = sparse.csr_array((2, 2))
    first = batch_from_arrays(adjacency, sparse.csr_array(values) if as_csr else values)
    schema = FeatureSchema.fit(first)
    assert schema.describe() == ["columns 0 to 1 as given, not scaled"]
    assert schema.feature_names == ("0", "1")
    assert sparse.issparse(schema.encode(first)) == as_csr
    other = batch_from_arrays(adjacency, values if as_csr else sparse.csr_array(values))
    assert dense(schema.encode(other)).tolist() == values.tolist()
    assert sparse.issparse(schema.encode(other)) == as_csr
    with pytest.raises(DataError, match="2 features a node are wanted as before, got 1"):
        schema.encode(batch_from_arrays(adjacency, values[:, :1]))
    with pytest.raises(DataError, match="2 numbers a node are wanted as before, got the columns of a table"):
        schema.encode(batch(a=[1, 2]))
    with pytest.raises(
        DataError, match="the columns 'a' are wanted as in the first batch, got numbers that are encoded"
    ):
        FeatureSchema.fit(batch(a=[1, 5])).encode(first)
    assert schema.updated(first) is schema


def test_no_attributes_are_no_features() -> None:
    first = batch_from_arrays(sparse.csr_array((3, 3)), None)
    schema = FeatureSchema.fit(first)
    assert schema.n_features == 0
    assert schema.encode(first).shape == (3, 0)
    assert schema.describe() == ["no column is used"]


# properties

finite = st.floats(-1e6, 1e6, width=32)
columns_of_numbers = arrays.arrays(np.float64, st.integers(2, 30), elements=finite)


@given(columns_of_numbers, columns_of_numbers)
def test_running_sums_are_numpys_mean_and_deviation(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> None:
    schema = FeatureSchema.fit(batch(a=first), numbers=["a"])
    (column,) = schema.updated(batch(a=second)).columns
    assert isinstance(column, NumberColumn)
    both = np.concatenate([first, second])
    if column.unit is not None:
        both = np.sign(both) * np.log1p(np.abs(both) / column.unit)
    size = np.abs(both).max() + 1e-300
    assert column.mean == pytest.approx(both.mean(), rel=1e-9, abs=1e-9 * size)
    assert column.deviation == pytest.approx(both.std(), rel=1e-6, abs=1e-7 * size)
    (frozen,) = schema.columns
    assert isinstance(frozen, NumberColumn)
    assert frozen.count == len(first)


def test_sums_do_not_cancel_far_from_zero() -> None:
    far = 1e9 + np.arange(100) % 7
    (column,) = FeatureSchema.fit(batch(a=far)).columns
    assert isinstance(column, NumberColumn)
    assert column.deviation == pytest.approx(far.std(), rel=1e-9)


words = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=12, max_size=12)
tables = st.fixed_dictionaries(
    {
        "x": arrays.arrays(np.float64, 12, elements=finite),
        "y": arrays.arrays(np.float64, 12, elements=st.sampled_from([0.0, 1.0, np.nan])),
        "z": words,
        "u": arrays.arrays(np.int64, 12, elements=st.integers(-5, 5)),
    }
)


@given(tables, tables, st.permutations(["x", "y", "z", "u"]))
def test_the_order_of_columns_does_not_matter(
    first: dict[str, Any], second: dict[str, Any], order: list[str]
) -> None:
    schema = FeatureSchema.fit(batch(**first))
    shuffled = batch(**{name: second[name] for name in order})
    try:
        wanted, remarks = schema.encode_with_remarks(batch(**second))
    except DataError:
        with pytest.raises(DataError) as caught:
            schema.encode(shuffled)
        one_sentence(caught.value)
        return
    found, others = schema.encode_with_remarks(shuffled)
    assert np.array_equal(dense(found), dense(wanted))
    assert set(others) == set(remarks)
    assert np.isfinite(dense(found)).all()
    assert found.shape == (12, schema.n_features)


@given(tables)
def test_a_schema_comes_back_from_json(first: dict[str, Any]) -> None:
    schema = FeatureSchema.fit(batch(**first))
    again = FeatureSchema.from_json(schema.to_json())
    assert again == schema
    assert np.array_equal(dense(again.encode(batch(**first))), dense(schema.encode(batch(**first))))


def _changed(**changes: Any) -> str:
    schema = json.loads(FeatureSchema.fit(batch(age=AGE, plan=PLAN, on=np.arange(N) % 2)).to_json())
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = schema
        for part in parents:
            place = place[int(part) if part.isdigit() else part]
        place[int(last) if last.isdigit() else last] = value
    return json.dumps(schema)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '{"version": 2}',
        '{"width": 0}',
        '{"width": -1}',
        '{"colour": 1}',
        _changed(columns__0__kind="colour"),
        _changed(columns__0__count=0),
        _changed(columns__0__squares=-1.0),
        _changed(columns__0__centre="NaN"),
        _changed(columns__0__unit=0.0),
        _changed(columns__1__categories=[]),
        _changed(columns__1__categories=["b", "a"]),
        _changed(columns__1__categories=["a", "a"]),
        _changed(columns__1__name="age"),
        _changed(left_out={"age": "twice"}),
        _changed(width=3),
        _changed(columns=3),
        _changed(columns__0=None),
        _changed(columns__2__gaps="perhaps"),
        _changed(columns__2__name=7),
        _changed(columns__2__more=7),
    ],
)
def test_a_schema_that_is_none_is_one_sentence(text: str) -> None:
    with pytest.raises(StoreError, match="a feature schema of version 1 is wanted, got another") as caught:
        FeatureSchema.from_json(text)
    one_sentence(caught.value)
