"""Decision trees trained on releases of Adult: top_down against the best node of the lattice.

The method is repeated stratified cross-validation with the same folds for every search. All folds but one are
anonymized, a tree is trained on the release, and it classifies the fold that was held back, generalized as the release is: both recodings are
global, so a value's label is found in the training rows, which keep their row number in the release. A value that is
not in the training rows is encoded without a label.

The output has the means over the folds, and for top_down the mean of the differences from the best node for cm, fold by
fold, with its standard error. Folds share most of their training rows, so the variance is that of the corrected
resampled t-test (Nadeau and Bengio, Machine Learning 52, 2003, doi:10.1023/A:1024068626366): s^2 (1 / n + held back /
trained on), and not s^2 / n, which assumes independent folds.

    pip install scikit-learn pandas pyarrow
    python benches/top_down_tree.py target/release/anonsql ../shared/data [--folds 10] [--repeats 2]
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import tempfile

import pandas
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

QUASI_IDENTIFIERS = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
]
LABEL = "salary-class"
REQUESTS = [(k, percent) for k in (5, 10, 50) for percent in (0, 1, 5)]
COMPARED = "top_down"
BEST_NODE = "best node for cm"
SEARCHES = {
    BEST_NODE: "MINIMIZING cm SEARCH USING auto",
    "best node for glm": "MINIMIZING glm SEARCH USING auto",
    COMPARED: "SEARCH USING top_down",
    "top_down(values)": "SEARCH USING top_down(gain => values)",
}


def release(binary, data, source, target, k, percent, search):
    """Anonymizes `source` to `target`, and reads it."""
    hierarchies = "".join(
        f"CREATE HIERARCHY \"{c}\" FROM '{data}/adult_arx_hier/{c}.csv';\n" for c in QUASI_IDENTIFIERS
    )
    using = ", ".join(f'"{c}" USING "{c}"' for c in QUASI_IDENTIFIERS)
    statement = (
        f"{hierarchies} ANONYMIZE '{source}' TO '{target}' OVERWRITE QUASI IDENTIFIERS ({using}) "
        f'CLASS ("{LABEL}") KEEP (id) SATISFYING k_anonymity({k}) SUPPRESSING AT MOST {percent} PERCENT {search};'
    )
    subprocess.run([binary, "-c", statement], check=True, stdout=subprocess.DEVNULL)
    return pandas.read_parquet(target).set_index("id")


def text(rows):
    """Labels as text; a column that is kept at level 0 holds values."""
    return rows.astype(object).where(rows.notna(), "NULL").astype(str)


def accuracy(train, held_back, released):
    """The share of held-back rows that a tree trained on the release gets right."""
    recoded = {}
    for column in QUASI_IDENTIFIERS:
        pairs = pandas.DataFrame({"value": train.loc[released.index, column], "label": text(released[column])})
        pairs = pairs.drop_duplicates().set_index("value")["label"]
        assert pairs.index.is_unique, f"{column} is not recoded globally"
        recoded[column] = held_back[column].map(pairs).fillna("unknown")
    tree = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"),
        DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    )
    tree.fit(text(released[QUASI_IDENTIFIERS]), released[LABEL])
    return tree.score(pandas.DataFrame(recoded), held_back[LABEL])


def difference(found, best, folds):
    """The mean of the differences, fold by fold, and its standard error."""
    differences = [a - b for a, b in zip(found, best)]
    variance = statistics.variance(differences) * (1 / len(differences) + 1 / (folds - 1))
    return statistics.mean(differences), math.sqrt(variance)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path, help="the folder with adult_arx.parquet and adult_arx_hier")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    adult = pandas.read_parquet(options.data / "adult_arx.parquet")
    adult["id"] = range(len(adult))
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folds = RepeatedStratifiedKFold(n_splits=options.folds, n_repeats=options.repeats, random_state=0)
        for trained_on, held_back in folds.split(adult, adult[LABEL]):
            train, held_back = adult.iloc[trained_on], adult.iloc[held_back]
            train.to_parquet(scratch / "train.parquet", index=False)
            train = train.set_index("id")
            for k, percent in REQUESTS:
                for name, search in SEARCHES.items():
                    rows = release(
                        options.binary, options.data, scratch / "train.parquet", scratch / "release", k, percent, search
                    )
                    found.setdefault((k, percent, name), []).append(accuracy(train, held_back, rows))
    print(f"k, percent suppressed at most, {', '.join(SEARCHES)}, {COMPARED} less {BEST_NODE}, standard error")
    held = 0
    for k, percent in REQUESTS:
        means = [f"{statistics.mean(found[k, percent, name]):.4f}" for name in SEARCHES]
        more, error = difference(found[k, percent, COMPARED], found[k, percent, BEST_NODE], options.folds)
        held += more >= 0
        print(f"{k}, {percent}, {', '.join(means)}, {more:+.4f}, {error:.4f}")
    print(f"{COMPARED} is at least as accurate as the {BEST_NODE} in {held} of {len(REQUESTS)} requests")


if __name__ == "__main__":
    main()
