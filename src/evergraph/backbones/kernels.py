"""Compiled loops for attention, ELU and dropout, to be had from `evergraph.backbones.jit`: numba may be absent.

Every function works on a contiguous part of the result that no other call touches and takes its terms in a fixed
order, so that the bits do not depend on the number of threads. What a loop reads but does not change is a variable
of its own, as LLVM cannot know that no array overlaps another. Loops are free of branches: one on dropout is
mispredicted every other time and costs more than the work that it saves.
"""

from typing import Any

import numpy as np

from evergraph import jit, splitmix
from evergraph.jit import Function

f32, i64, u64 = np.float32, np.int64, np.uint64
ZERO, ONE = f32(0), f32(1)

LOWEST = f32(-87)
"""exp of less would be subnormal; it is 1.6e-38 beside a largest weight of 1."""
LOG2_E = f32(1.4426950408889634)
LN2_HIGH, LN2_LOW = f32(0.693359375), f32(-2.12194440e-4)
"""log 2 in two parts, of which the first has few bits: its product with a small whole number is exact."""
C2, C3, C4, C5, C6, C7 = (
    f32(c) for c in (0.5, 1 / 6, 0.041665795894, 0.0083334519073, 0.0013981999507, 1.98756915e-4)
)
"""exp(r) = 1 + r + C2 r² + ... + C7 r⁷ for |r| <= log(2) / 2, to float32 rounding."""

GOLDEN, MIX_1, MIX_2 = u64(splitmix.GOLDEN), u64(splitmix.MIX_1), u64(splitmix.MIX_2)


def compiled(function: Function) -> Function:
    """Sums may be reordered for the vector unit; NaN and infinity keep their meaning."""
    return jit.compiled(function, fastmath=("reassoc", "nsz", "contract", "arcp"))


@compiled
def fill(words: Any, key: Any) -> None:
    """The numbers of SplitMix64 after the state `key`; words: (n,) uint64."""
    for at in range(len(words)):
        z = key + u64(at + 1) * GOLDEN
        z = (z ^ (z >> u64(30))) * MIX_1
        z = (z ^ (z >> u64(27))) * MIX_2
        words[at] = z ^ (z >> u64(31))


@compiled
def drop(x: Any, bits: Any, threshold: Any, scale: Any, out: Any) -> None:
    """x times `scale` where the bits reach the threshold, else zero; bits (rows, k), x and out as wide or wider."""
    rows, width = bits.shape
    for i in range(rows):
        for k in range(width):
            out[i, k] = x[i, k] * (scale * f32(bits[i, k] >= threshold))


@compiled
def _parts_of_exp(x: Any) -> Any:
    """r, s and p with exp(x) = (1 + r + s) p, of a float32 x <= 0, in operations that LLVM vectorises."""
    x = LOWEST if x < LOWEST else x
    whole = np.floor(x * LOG2_E + f32(0.5))
    r = x - whole * LN2_HIGH - whole * LN2_LOW
    series = ((((C7 * r + C6) * r + C5) * r + C4) * r + C3) * r + C2
    power = np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
    return r, series * r * r, power


@compiled
def _exp(x: Any) -> Any:
    """exp(x) of a float32 x <= 0."""
    r, series, power = _parts_of_exp(x)
    return (series + r + ONE) * power


@compiled
def _exp_minus_1(x: Any) -> Any:
    """exp(x) - 1 of a float32 x <= 0, exact to rounding also near zero."""
    r, series, power = _parts_of_exp(x)
    return (series + r) * power + (power - ONE)


@compiled
def elu_drop(x: Any, bias: Any, bits: Any, threshold: Any, scale: Any, out: Any) -> None:
    """ELU(x + bias) times `scale` where the bits reach the threshold, else zero; all (rows, k), bias (k,)."""
    rows, width = x.shape
    for i in range(rows):
        for k in range(width):
            value = x[i, k] + bias[k]
            below = _exp_minus_1(value if value < ZERO else ZERO)
            out[i, k] = (value if value > ZERO else below) * (scale * f32(bits[i, k] >= threshold))


@compiled
def elu_drop_backward(grad: Any, out: Any, bits: Any, threshold: Any, scale: Any, for_x: Any) -> None:
    """The gradient of `elu_drop` for x, from its output: ELU' is 1 above zero, ELU + 1 below; all (rows, k)."""
    rows, width = grad.shape
    for i in range(rows):
        for k in range(width):
            value = out[i, k]
            slope = scale + (value if value < ZERO else ZERO)
            for_x[i, k] = grad[i, k] * (slope * f32(bits[i, k] >= threshold))


@compiled
def weigh(
    crow: Any, col: Any, to: Any, sent: Any, slope: Any, bits: Any, threshold: Any, e: Any, total: Any,
    kept_start: Any, kept_col: Any, kept: Any,
) -> None:  # fmt: skip
    """Weights of one head, before the division by their row's sum: e = exp(LeakyReLU(to_i + sent_j) - row maximum).

    crow: (rows + 1,), col: (entries,); bits: (entries,), or (0,) where nothing is dropped. Writes e (entries,),
    negative where dropped, and total (rows,), its sum with the dropped; the others as a CSR matrix: kept_start
    (rows + 1,), kept_col and kept, as long as they are needed.
    """
    rows = len(total)
    for i in range(rows):
        own, top = to[i], f32(-np.inf)
        first, last = i64(crow[i]), i64(crow[i + 1])
        for p in range(first, last):
            value = sent[col[p]]
            e[p] = value
            top = value if value > top else top
        top += own
        top *= ONE if top > ZERO else slope
        for p in range(first, last):
            raw = own + e[p]
            e[p] = (raw if raw > ZERO else raw * slope) - top
    for p in range(len(e)):
        e[p] = _exp(e[p])
    if len(bits):
        for p in range(len(e)):
            e[p] = e[p] if bits[p] >= threshold else -e[p]
    n = i64(0)
    for i in range(rows):
        kept_start[i], row_total = n, ZERO
        first, last = i64(crow[i]), i64(crow[i + 1])
        for p in range(first, last):
            row_total += abs(e[p])
        total[i] = row_total
        for p in range(first, last):  # what is not kept is overwritten by the next
            kept_col[n], kept[n] = col[p], e[p]
            n += i64(e[p] > ZERO)
    kept_start[rows] = n


@compiled
def _of_entries(
    crow: Any, col: Any, to: Any, sent: Any, slope: Any, e: Any, corrections: Any, of_kept: Any,
    for_to: Any, for_sent: Any,
) -> None:  # fmt: skip
    """The gradients of `to` and `sent`, from the products of the kept entries and the corrections of the rows."""
    of_entry, n = np.empty(len(e), f32), i64(0)
    signs = e.view(np.int32)
    for p in range(len(e)):  # those of dropped entries are overwritten below: a branch here takes six times as long
        of_entry[p] = of_kept[n]
        n += i64(1) + i64(signs[p] >> np.int32(31))
    for p in range(len(e)):
        of_entry[p] = of_entry[p] if e[p] > ZERO else ZERO
    for i in range(len(to)):
        own, correction, row_total = to[i], corrections[i], ZERO
        for p in range(i64(crow[i]), i64(crow[i + 1])):
            value = abs(e[p]) * (of_entry[p] - correction)
            value *= ONE if own + sent[col[p]] > ZERO else slope
            of_entry[p] = value
            row_total += value
        for_to[i] = row_total
    for_sent[:] = ZERO
    for p in range(len(e)):
        for_sent[col[p]] += of_entry[p]


@compiled
def differentiate(
    head: Any, crow: Any, col: Any, to: Any, sent: Any, slope: Any, scale: Any, dense: Any, e: Any, total: Any,
    kept_start: Any, kept_col: Any, kept: Any, out: Any, grad: Any, for_to: Any, for_sent: Any, for_dense: Any,
) -> None:  # fmt: skip
    """The gradients of one head, as written down in `evergraph.backbones.attention`.

    dense, for_dense: (columns, k); out, grad: (rows, heads, k) of all heads; the others as in `weigh`.
    """
    rows, width = len(total), dense.shape[1]
    scaled, corrections = np.empty((rows, width), f32), np.empty(rows, f32)
    for i in range(rows):
        correction, inverse = ZERO, ONE / total[i]
        for k in range(width):
            correction += grad[i, head, k] * out[i, head, k]
        corrections[i] = correction * inverse
        inverse *= scale
        for k in range(width):
            scaled[i, k] = grad[i, head, k] * inverse
    of_kept = np.zeros(i64(kept_start[rows]) + 1, f32)  # one more, read where none is kept
    for i in range(rows):
        for q in range(i64(kept_start[i]), i64(kept_start[i + 1])):
            j, product = kept_col[q], ZERO
            for k in range(width):
                product += scaled[i, k] * dense[j, k]
            of_kept[q] = product
    for_dense[:] = ZERO
    for i in range(rows):  # apart from the loop before: both in one take half as long again
        for q in range(i64(kept_start[i]), i64(kept_start[i + 1])):
            j, value = kept_col[q], kept[q]
            for k in range(width):
                for_dense[j, k] += value * scaled[i, k]
    _of_entries(crow, col, to, sent, slope, e, corrections, of_kept, for_to, for_sent)
