# %% [markdown]
# # A graph that grows by months
#
# A shop's products in pandas: each month brings new products, new departments and new purchases. A model learns
# month by month, predicts, says what it still knows, forgets on request, and is saved and loaded.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evergraph import ContinualClassifier
from evergraph.report.palette import light

# %% tags=["parameters"]
PRODUCTS = 200
EPOCHS = 100

# %% [markdown]
# ## The shop
#
# The table of products has a price, a weight, a shelf life (not always known) and a country. Two products are
# joined when customers buy them together, mostly but not only within a department. Somebody has sorted 40 % of
# the products into departments; the others are to be predicted. The table is made up, so that we know the truth.

# %%
MONTHS = {
    1: ["tea", "coffee", "honey"],
    2: ["tea", "chocolate", "spices"],
    3: ["honey", "candles", "soap"],
}
DEPARTMENTS = list(dict.fromkeys(name for names in MONTHS.values() for name in names))
rng = np.random.default_rng(0)


def new_products(month: int, department: str) -> pd.DataFrame:
    """Products whose columns say a little of their department, and not enough."""
    place = DEPARTMENTS.index(department)
    usual = np.random.default_rng(place)
    price, weight, days = usual.uniform(4, 12), usual.uniform(100, 500), usual.uniform(100, 700)
    shelf_life = rng.normal(days, 200, PRODUCTS).clip(10).round()
    countries = rng.choice(["Ceylon", "India", "Peru", "Spain"], PRODUCTS, p=usual.dirichlet([1, 1, 1, 1]))
    return pd.DataFrame(
        {
            "id": [f"{department}-{month}-{number}" for number in range(PRODUCTS)],
            "month": month,
            "price": rng.gamma(4, price / 4, PRODUCTS).round(2),
            "weight": rng.gamma(4, weight / 4, PRODUCTS).round(),
            "shelf_life": np.where(rng.random(PRODUCTS) < 0.2, np.nan, shelf_life),
            "country": countries,
            "truth": department,
        }
    )


products = pd.concat([new_products(month, name) for month, names in MONTHS.items() for name in names])
products = products.reset_index(drop=True)
products["department"] = products["truth"].where(rng.random(len(products)) < 0.4)

bought = []
for department in DEPARTMENTS:  # about four purchases a product within its department, two of any kind
    own = products.loc[products["truth"] == department, "id"].to_numpy()
    bought.append(rng.choice(own, (2 * len(own), 2)))
bought.append(rng.choice(products["id"].to_numpy(), (len(products), 2)))
purchases = pd.DataFrame(np.concatenate(bought), columns=["source", "target"])
purchases = purchases[purchases["source"] != purchases["target"]].drop_duplicates()


def until(month: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The shop as it is at the end of a month: all products so far, and the purchases between them."""
    nodes = products[products["month"] <= month].drop(columns=["month", "truth"])
    known = purchases["source"].isin(nodes["id"]) & purchases["target"].isin(nodes["id"])
    return nodes, purchases[known]


for month in MONTHS:
    nodes, edges = until(month)
    print(f"month {month}: {len(nodes)} products, {nodes['department'].count()} sorted, {len(edges)} purchases")
print(products.drop(columns="truth").sample(4, random_state=3).to_string(index=False))

# %% [markdown]
# ## Learn and predict, month by month
#
# `partial_fit` takes the tables as they are. What was learned before is context and is not learned again; only
# sums are kept of it. With `reject=0.05` products unlike anything learned get `unknown`, and about 5 % of the
# others, too. Before each month is learned, the model of the month before predicts the new products: departments
# that it has never seen can only be `unknown`.

# %%
model = ContinualClassifier(reject=0.05, holdout=0.2)
for month in MONTHS:
    nodes, edges = until(month)
    truth = products.loc[nodes.index, "truth"].to_numpy()
    new = (products.loc[nodes.index, "month"] == month).to_numpy()
    if month > 1:
        before = model.predict((nodes, edges), label_column="department")
        unseen = new & ~np.isin(truth, model.classes_)
        print(f"month {month}, before: {np.mean(before[unseen] == 'unknown'):.0%} of the new departments unknown, "
              f"{np.mean(before[new & ~unseen] == truth[new & ~unseen]):.0%} of the others right")  # fmt: skip
    model.partial_fit((nodes, edges), label_column="department")
    after = model.predict((nodes, edges), label_column="department")
    unsorted = nodes["department"].isna().to_numpy()
    answered = unsorted & (after != "unknown")
    print(f"month {month}, after: {np.mean(after[answered] == truth[answered]):.0%} of the answers right, "
          f"{np.mean(answered[unsorted]):.0%} of the unsorted products answered")  # fmt: skip

# %% [markdown]
# ## What is held out
#
# A fifth of the sorted products of each department is never learned (`holdout=0.2`; a tenth unless given). After
# each month they are predicted again, so that forgetting is seen when it happens.

# %%
step = model.history_[-1]
print(f"in the last month {step.labelled} sorted products: {step.learned} learned, {step.held_out} held out, "
      f"{step.known} known before")  # fmt: skip
for entry in step.classes:
    change = "new" if entry.change is None else f"{100 * entry.change:+.0f}"
    print(f"{entry.label:10} {entry.nodes:3} held out, {entry.accuracy:4.0%} right ({change})")
print("bytes kept:", model.memory_)

# %% [markdown]
# The same months with `finetune`, a graph network that only learns what is new, show what the figures look like
# where a model forgets.

# %%
forgetful = ContinualClassifier("finetune", epochs=EPOCHS, holdout=0.2)
for month in MONTHS:
    forgetful.partial_fit(until(month), label_column="department")

figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
figure.suptitle("Held-out products that are predicted right, by department")
for axes, (name, shown) in zip(
    panels, {"analytic (sums)": model, "finetune (forgets)": forgetful}.items(), strict=True
):
    for at, department in enumerate(DEPARTMENTS):
        found = [
            (month, 100 * entry.accuracy)
            for month, step in enumerate(shown.history_, 1)
            for entry in step.classes
            if entry.label == department
        ]
        axes.plot(*zip(*found, strict=True), color=light(at), marker="osD^vPX"[at], label=department)
    axes.set_title(name, loc="left")
    axes.set_xticks(list(MONTHS))
    axes.set_xlabel("month")
    axes.grid(alpha=0.3)
panels[0].set_ylabel("right, %")
panels[0].set_ylim(-4, 104)
panels[1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()

# %% [markdown]
# ## Month by month or everything at once?
#
# With `analytic` some departments lose points, too: there are more of them to confuse, and new purchases lead
# from old products to new ones. The yardstick is a model that gets the whole shop in one batch. It is a few
# points above, and far from its figures of January as well: the question has become harder, little was forgotten.

# %%
nodes, edges = until(3)
truth, unsorted = products["truth"].to_numpy(), nodes["department"].isna().to_numpy()
at_once = ContinualClassifier(holdout=0.2).partial_fit((nodes, edges), label_column="department")
model.set_params(reject=None)
for name, shown in {"month by month": model, "everything at once": at_once, "finetune": forgetful}.items():
    predicted = shown.predict((nodes, edges), label_column="department")
    print(f"{name:18} {np.mean(predicted[unsorted] == truth[unsorted]):.1%} of the unsorted products right")

# %% [markdown]
# ## Forget
#
# A customer wants five products of January out of the model. No row was kept, so the tables of January are given
# again; a checksum makes sure that they are the same. The sums are then as if the products had never been sorted.

# %%
january = until(1)
learned = january[0].loc[january[0]["department"].notna(), "id"]
withdrawn = learned.head(5).tolist()
print(model.forget(january, withdrawn, label_column="department").statement)

# %% [markdown]
# ## Save and load
#
# A model is a folder, without pickle. Loaded again it predicts the same, and learns on.

# %%
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "model")
    again = ContinualClassifier.load(Path(folder) / "model")
first = model.predict_proba((nodes, edges), label_column="department")
second = again.predict_proba((nodes, edges), label_column="department")
print("the same probabilities, bit by bit:", np.array_equal(first, second))
print(again)
