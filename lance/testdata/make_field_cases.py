"""Makes the datasets of cases 7, 8, 10 and 12 (shared/cases), and one more, with pylance.

usage: make_field_cases.py OUTDIR
"""

import os
import sys

import lance
import pyarrow as pa

OUT = sys.argv[1]
OPTIONS = {"data_storage_version": "2.2", "enable_stable_row_ids": True}


def uri(name):
    return os.path.join(OUT, name)


def refs():
    """Case 7: branches with nested names, leftovers, a tag without target."""
    t = pa.table({"id": ["a"]})
    ds = lance.write_dataset(t, uri("refs"), **OPTIONS)
    for name in ["f", "f/x", "ünï", "A", "a", "dev"]:
        ds.create_branch(name)
    ds.branches.delete("f")
    for name in ["a b", "a%2Fb", "a:b"]:
        try:
            ds.create_branch(name)
        except Exception:
            pass
        else:
            raise SystemExit(f"branch {name!r} was accepted")
    ds.tags.create("keep-dev", ("dev", 1))
    ds.branches.delete("dev")


def four_versions():
    """Cases 8 and 10: four appends of three rows."""
    for i in range(4):
        t = pa.table({"id": pa.array([10 * i, 10 * i + 1, 10 * i + 2], pa.int64())})
        kw = OPTIONS if i == 0 else {}
        lance.write_dataset(t, uri("four"), mode="append" if i else "create", **kw)


def old_names():
    """Case 10: twelve versions with names of the old scheme."""
    for i in range(12):
        t = pa.table({"id": pa.array([i], pa.int64())})
        kw = dict(OPTIONS, enable_v2_manifest_paths=False) if i == 0 else {}
        lance.write_dataset(t, uri("old"), mode="append" if i else "create", **kw)


def permuted():
    """Case 12 a: appended with columns and members in another order."""
    s1, s2 = pa.struct([("p", pa.int64()), ("q", pa.string())]), pa.struct([("q", pa.string()), ("p", pa.int64())])
    t = pa.table({"a": [1, 2], "b": ["x", "y"], "s": pa.array([{"p": 1, "q": "one"}, {"p": 2, "q": "two"}], s1)})
    lance.write_dataset(t, uri("permuted"), **OPTIONS)
    t = pa.table({"s": pa.array([{"p": 3, "q": "three"}], s2), "b": ["z"], "a": [3]})
    lance.write_dataset(t, uri("permuted"), mode="append")


def readded():
    """Case 12 b: a column dropped and made again under its name."""
    t = pa.table({"a": [1, 2], "b": [10, 20], "c": [100, 200]})
    ds = lance.write_dataset(t, uri("readded"), **OPTIONS)
    ds.drop_columns(["b"])
    ds.add_columns({"b": "a * 7"})
    ds.add_columns(pa.field("z", pa.string()))
    t = pa.table({"a": [3], "b": [21], "c": [300], "z": ["q"]}).select([f.name for f in ds.schema])
    lance.write_dataset(t, uri("readded"), mode="append")


def no_file():
    """Case 12 c: a fragment without any data file."""
    ds = lance.write_dataset(pa.table({"a": [1, 2, 3]}), uri("nofile"), **OPTIONS)
    ds.add_columns(pa.field("x", pa.string()))
    ds.drop_columns(["a"])


def altered():
    """Case 12 d: a column of another type."""
    ds = lance.write_dataset(pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["x", "y"]}), uri("altered"), **OPTIONS)
    ds.alter_columns({"path": "a", "data_type": pa.int64()})


def indexed():
    """An index, inherited by a branch and by a branch of that branch."""
    ds = lance.write_dataset(pa.table({"id": list("abc")}), uri("indexed"), **OPTIONS)
    ds.create_scalar_index("id", "BTREE")
    ds = lance.dataset(uri("indexed"))
    ds.create_branch("one").create_branch("two")


refs()
indexed()
four_versions()
old_names()
permuted()
readded()
no_file()
altered()
