"""Lets pylance judge pairs of transactions.

usage: make_matrix.py OUTDIR

OUTDIR/base          a dataset, with the files that the transactions need
OUTDIR/alone/<name>  the base and the one transaction of that name
OUTDIR/matrix.json   {base: manifest, txns: {name: transaction}, outcomes: {ours: {theirs: ok | retry | incompatible | error: …}}}, bytes in base64

testdata/matrix.json is one that pylance 10.0.0 made.
"""

import base64
import copy
import glob
import json
import os
import shutil
import sys

import lance
import pyarrow as pa
from lance.fragment import write_fragments
from lance.lance import LanceSchema

OUT = sys.argv[1]
BASE = os.path.join(OUT, "base")
Op = lance.LanceOperation


def rows(lo, n=4):
    return pa.table({"id": pa.array([f"k{lo + i}" for i in range(n)]), "n": pa.array(range(lo, lo + n), pa.int64()), "x": pa.array([0.5] * n)})


lance.write_dataset(rows(0), BASE, enable_stable_row_ids=True, data_storage_version="2.2")
for lo in (10, 20):
    lance.write_dataset(rows(lo), BASE, mode="append")
ds = lance.dataset(BASE)
VERSION = ds.version
SCHEMA = ds.schema
FRAGS = [f.metadata for f in ds.get_fragments()]


def extra(lo, n=4):
    return write_fragments(rows(lo, n), BASE, mode="append")


def masked(i, where):
    return lance.dataset(BASE).get_fragment(i).delete(where)


def index(column):
    other = os.path.join(OUT, "index_" + column)
    shutil.copytree(BASE, other)
    lance.dataset(other).create_scalar_index(column, "BTREE")
    shutil.copytree(os.path.join(other, "_indices"), os.path.join(BASE, "_indices"), dirs_exist_ok=True)
    d = lance.dataset(other).list_indices()[0]
    field = {"id": 0, "n": 1}[column]
    return d, field


def new_index(column, frags):
    d, field = index(column)
    return lance.Index(uuid=d["uuid"], name=d["name"], fields=[field], dataset_version=VERSION, fragment_ids=set(frags), index_version=0)


def rewritten(i, new_id):
    f = copy.deepcopy(FRAGS[i])
    g = extra(100 + i)[0]
    f.files, f.id = g.files, new_id
    return Op.Rewrite(groups=[Op.RewriteGroup(old_fragments=[FRAGS[i]], new_fragments=[f])], rewritten_indices=[])


def replaced(i):
    g = copy.deepcopy(extra(200 + i)[0])
    return Op.DataReplacement(replacements=[Op.DataReplacementGroup(i, g.files[0])])


def columns(i):
    """A column rewritten in place."""
    f = copy.deepcopy(FRAGS[i])
    f.files = extra(300 + i)[0].files
    return Op.Update(updated_fragments=[f], fields_modified=[1], update_mode="rewrite_columns")


def update(i, where):
    return Op.Update(updated_fragments=[masked(i, where)], new_fragments=extra(400 + i, 1), fields_for_preserving_frag_bitmap=[0, 1, 2], update_mode="rewrite_rows")


smaller = lance.dataset(BASE).lance_schema
OPS = {
    "append": Op.Append(extra(500)),
    "delete_0": Op.Delete([masked(0, "n = 1")], [], "n = 1"),
    "delete_1": Op.Delete([masked(1, "n = 11")], [], "n = 11"),
    "drop_0": Op.Delete([], [0], "n < 4"),
    "update_0": update(0, "n = 2"),
    "update_1": update(1, "n = 12"),
    "insert": Op.Update(new_fragments=extra(600), update_mode="rewrite_rows"),
    "columns_0": columns(0),
    "overwrite": Op.Overwrite(SCHEMA, extra(700)),
    "index_n": new_index("n", [0, 2]),
    "index_id": new_index("id", [1]),
    "rewrite_0": rewritten(0, 50),
    "rewrite_1": rewritten(1, 51),
    "merge": Op.Merge(FRAGS, SCHEMA),
    "project": Op.Project(smaller),
    "restore": Op.Restore(1),
    "config_a": Op.UpdateConfig(config_updates=Op.UpdateMap({"a": "1"})),
    "config_b": Op.UpdateConfig(config_updates=Op.UpdateMap({"b": "1"}), table_metadata_updates=Op.UpdateMap({"t": "1"})),
    "config_not_a": Op.UpdateConfig(config_updates=Op.UpdateMap({"a": None}), table_metadata_updates=Op.UpdateMap({"t": "2"})),
    "schema_meta": Op.UpdateConfig(schema_metadata_updates=Op.UpdateMap({"s": "1"})),
    "field_meta": Op.UpdateConfig(field_metadata_updates={1: Op.UpdateMap({"f": "1"})}),
    "replace_0": replaced(0),
    "replace_1": replaced(1),
}
for k in ("index_n", "index_id"):
    OPS[k] = Op.CreateIndex([OPS[k]], [])


def outcome(uri, op):
    try:
        lance.LanceDataset.commit(uri, op, read_version=VERSION)
    except Exception as e:  # noqa: BLE001: the words are what is wanted
        text = str(e)
        if "Retryable commit conflict" in text or "Please retry" in text:
            return "retry"
        if "ncompatible" in text:
            return "incompatible"
        return "error: " + text[:200]
    return "ok"


outcomes = {}
for name, op in OPS.items():
    alone = os.path.join(OUT, "alone", name)
    shutil.copytree(BASE, alone)
    r = outcome(alone, op)
    if r != "ok":
        sys.exit(f"{name} alone: {r}")
for theirs in OPS:
    for ours in OPS:
        pair = os.path.join(OUT, "pair")
        shutil.copytree(os.path.join(OUT, "alone", theirs), pair)
        outcomes.setdefault(ours, {})[theirs] = outcome(pair, OPS[ours])
        shutil.rmtree(pair)


def read(pattern):
    (path,) = glob.glob(os.path.join(OUT, pattern))
    with open(path, "rb") as f:
        return base64.b64encode(f.read()).decode()


record = {
    "base": read(f"base/_versions/{2**64 - 1 - VERSION}.manifest"),
    "txns": {n: read(f"alone/{n}/_transactions/{VERSION}-*.txn") for n in OPS},
    "outcomes": outcomes,
}
with open(os.path.join(OUT, "matrix.json"), "w") as f:
    json.dump(record, f, indent=0)
