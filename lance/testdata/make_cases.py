"""Makes Lance datasets with pylance and writes down what pylance reads from them.

usage: make_cases.py OUTDIR

OUTDIR/<case>/data.lance          the dataset
OUTDIR/<case>/<n>.arrow           what pylance reads from state n, with system columns
OUTDIR/cases.json                 [{case, stable, states: [{n, branch, version, rows, latest}]}]
"""

import json
import os
import sys

import lance
import pyarrow as pa
import pyarrow.ipc as ipc

OUT = sys.argv[1]
CASES = []
SYSTEM = ["_rowid", "_rowaddr"]
VERSIONS = ["_row_created_at_version", "_row_last_updated_at_version"]


class Case:
    def __init__(self, name, stable=True, storage="2.2"):
        self.name, self.stable, self.storage = name, stable, storage
        self.dir = os.path.join(OUT, name)
        os.makedirs(self.dir)
        self.uri = os.path.join(self.dir, "data.lance")
        self.states = []
        CASES.append(self)

    def write(self, table, **kw):
        kw.setdefault("data_storage_version", self.storage)
        if not os.path.exists(self.uri):
            kw.setdefault("enable_stable_row_ids", self.stable)
        return lance.write_dataset(table, self.uri, **kw)

    def note(self, ds, branch=None):
        """Writes down what pylance reads from this handle."""
        n = len(self.states)
        cols = [f.name for f in ds.schema] + SYSTEM + VERSIONS
        table = ds.scanner(columns=cols).to_table()
        with ipc.new_file(os.path.join(self.dir, f"{n}.arrow"), table.schema) as w:
            w.write_table(table)
        self.states.append({"n": n, "branch": branch or "", "version": ds.version, "rows": ds.count_rows()})


def rows(lo, hi, tag="r"):
    ids = list(range(lo, hi))
    return pa.table({
        "id": pa.array([f"{tag}{i}" for i in ids]),
        "n": pa.array(ids, pa.int64()),
        "x": pa.array([None if i % 5 == 0 else i * 0.5 for i in ids], pa.float64()),
        "l": pa.array([None if i % 7 == 0 else list(range(i % 4)) for i in ids], pa.list_(pa.int32())),
        "s": pa.array([None if i % 11 == 0 else {"p": i, "q": str(i)} for i in ids], pa.struct([("p", pa.int32()), ("q", pa.string())])),
    })


def life(name, stable, storage="2.2"):
    """Append, delete, update, merge-insert, columns, compaction, restore, overwrite."""
    c = Case(name, stable, storage)
    ds = c.write(rows(0, 50))
    c.note(ds)
    ds = c.write(rows(50, 90), mode="append")
    ds = c.write(rows(90, 95), mode="append")
    c.note(ds)
    ds.delete("n % 3 = 0")
    c.note(ds)
    ds.update({"x": "cast(n as double) * 10.0"}, where="n in (4, 5, 52, 91)")
    c.note(ds)
    ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(85, 100))
    c.note(ds)
    ds.delete("n >= 90 and n < 95")
    c.note(ds)
    ds.add_columns({"twice": "n * 2"})
    c.note(ds)
    ds.add_columns(pa.field("void", pa.string()))
    c.note(ds)
    ds.drop_columns(["x"])
    c.note(ds)
    c.write(rows(200, 210).append_column("twice", pa.array([0] * 10, pa.int64())).append_column("void", pa.array(["v"] * 10)).drop(["x"]), mode="append")
    ds = lance.dataset(c.uri)
    c.note(ds)
    ds.optimize.compact_files()
    c.note(ds)
    ds.delete("n = 200")
    c.note(ds)
    old = lance.dataset(c.uri, version=3)
    old.restore()
    ds = lance.dataset(c.uri)
    c.note(ds)
    ds = c.write(rows(0, 7, "o"), mode="overwrite")
    c.note(ds)
    ds.delete("true")
    c.note(ds)


def many_deletions():
    """A deletion file of both kinds, and one that grows from one to the other."""
    c = Case("many_deletions")
    n = 20000
    t = pa.table({"id": pa.array([str(i) for i in range(n)]), "n": pa.array(range(n), pa.int64())})
    ds = c.write(t)
    ds.delete("n < 4999")
    c.note(ds)
    ds.delete("n = 10000")
    c.note(ds)
    ds.delete("n % 2 = 0")
    c.note(ds)
    ds.update({"n": "n + 1000000"}, where="n % 1000 = 1")
    c.note(ds)
    ds.optimize.compact_files()
    c.note(ds)


def fragments():
    """Several files of one write, and a fragment that lost all its rows."""
    c = Case("fragments")
    ds = c.write(rows(0, 100), max_rows_per_file=9)
    c.note(ds)
    ds.delete("n >= 9 and n < 18")
    ds.delete("n = 40 or n = 41 or n = 99")
    c.note(ds)


def branches():
    """Branches of branches, a tag, writes on each."""
    c = Case("branches")
    ds = c.write(rows(0, 20))
    ds.delete("n = 3")
    c.write(rows(20, 25), mode="append")
    ds = lance.dataset(c.uri)
    ds.tags.create("first", 1)
    dev = ds.create_branch("dev")
    c.note(dev, "dev")
    dev.delete("n = 5 or n = 21")
    dev.insert(rows(100, 103))
    c.note(dev, "dev")
    sub = dev.create_branch("dev2/sub")
    sub.delete("n = 6 or n = 101")
    sub.update({"x": "1.25"}, where="n = 7")
    c.note(sub, "dev2/sub")
    deep = sub.create_branch("deep")
    deep.insert(rows(200, 202))
    c.note(deep, "deep")
    ds = lance.dataset(c.uri)
    ds.delete("n = 8")
    c.note(ds)


def empty():
    c = Case("empty")
    ds = c.write(rows(0, 0))
    c.note(ds)


def blobs():
    c = Case("blobs")
    payload = [b"", b"a", None, b"b" * 70000, b"c" * 100, b"d" * (5 << 20)]
    t = pa.table({"id": pa.array(range(len(payload)), pa.int64()), "b": lance.blob_array(payload)})
    ds = c.write(t)
    c.states.append({"n": -1, "branch": "", "version": ds.version, "rows": ds.count_rows()})


def large():
    """Data files that are too large to be fetched whole."""
    import random
    rnd = random.Random(7)
    c = Case("large")
    n = 60000
    for part in range(2):
        t = pa.table({
            "id": pa.array([f"{part}-{rnd.getrandbits(128):032x}" for _ in range(n)]),
            "n": pa.array([rnd.getrandbits(63) for _ in range(n)], pa.int64()),
        })
        c.write(t, mode="append" if part else "create")
    ds = lance.dataset(c.uri)
    ds.delete("n % 7 = 0")
    c.note(ds)


def members():
    """A struct whose members came later: one without values, one in a file of its own."""
    c = Case("members")
    p = pa.struct([("p", pa.int32())])
    ds = c.write(pa.table({"id": pa.array(range(6), pa.int64()), "s": pa.array([{"p": 1}, None, {"p": 3}, None, {"p": None}, {"p": 6}], p)}))
    q = pa.struct([("q", pa.int64())])
    values = pa.array([{"q": 1}, {"q": 2}, None, None, {"q": 5}, {"q": None}], q)
    ds.add_columns(pa.RecordBatchReader.from_batches(pa.schema([pa.field("s", q)]), [pa.record_batch([values], names=["s"])]))
    c.note(lance.dataset(c.uri))
    ds = lance.dataset(c.uri)
    ds.add_columns(pa.schema([pa.field("s", pa.struct([("r", pa.string())]))]))
    ds = lance.dataset(c.uri)
    c.note(ds)
    ds.delete("id = 2 or id = 4")
    c.note(ds)


def in_place():
    """Columns rewritten in place: the old ones stay in their file, superseded."""
    c = Case("in_place")
    t = pa.table({"id": pa.array(list("abcdef")), "v": pa.array(range(6), pa.int64()), "w": pa.array(range(10, 16), pa.int64())})
    ds = c.write(t, max_rows_per_file=3)
    ds.create_scalar_index("id", "BTREE")
    ds = lance.dataset(c.uri)
    ds.merge_insert("id").when_matched_update_all().execute(pa.table({"id": ["b", "e"], "v": pa.array([200, 500], pa.int64())}))
    c.note(lance.dataset(c.uri))


def main():
    life("life", True)
    life("life_addresses", False)
    life("life_2_1", True, "2.1")
    many_deletions()
    fragments()
    branches()
    empty()
    blobs()
    large()
    members()
    in_place()
    with open(os.path.join(OUT, "cases.json"), "w") as f:
        json.dump([{"case": c.name, "stable": c.stable, "states": c.states} for c in CASES], f, indent=1)


main()
