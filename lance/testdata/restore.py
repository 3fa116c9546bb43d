"""Restores a version as Lance does it, and compares.

  restore.py twin DIR VERSION   DIR/twin is a copy of DIR/t.lance: restores the version there
  restore.py branch DIR         makes a branch dev of DIR/t.lance, deletes a row there, overwrites all
  restore.py same A B           both hold the same rows, under the same ids
  restore.py write A            appends a row, whose id must be none that is or was there: prints it
"""
import sys

import lance
import pyarrow as pa

SYSTEM = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def table(ds):
    return ds.scanner(columns=[f.name for f in ds.schema if f.name != "photo"] + SYSTEM).to_table().to_pydict()


def twin(dir, version):
    lance.dataset(dir + "/twin", version=int(version)).restore()


def branch(dir):
    lance.dataset(dir + "/t.lance").create_branch("dev")
    ds = lance.dataset(dir + "/t.lance/tree/dev")
    one = ds.scanner(columns=["id"]).to_table()["id"].to_pylist()[0]
    ds.delete("id = '%s'" % one)
    ds = lance.dataset(dir + "/t.lance/tree/dev")
    ds.delete("true")


def same(a, b):
    x, y = lance.dataset(a), lance.dataset(b)
    for ds in (x, y):
        ds.validate()
    assert table(x) == table(y), "rows differ"
    assert x.schema == y.schema and x.count_rows() == y.count_rows()
    ids = table(x)["id"]
    for f in ["id = '%s'" % i for i in ids[:3]] + ["n > 20", "n is null"]:
        p, q = (sorted(d.scanner(columns=["id"], filter=f).to_table()["id"].to_pylist()) for d in (x, y))
        assert p == q, f


def write(a):
    ds = lance.dataset(a)
    before = max(table(ds)["_rowid"], default=-1)
    photo = pa.array([None], pa.struct([pa.field("data", pa.large_binary()), pa.field("uri", pa.string())]))
    row = pa.table({"id": ["py"], "n": pa.array([1], pa.int64()), "text": ["x"], "tags": pa.array([None], pa.list_(pa.string())),
                    "vec": pa.array([None], pa.list_(pa.float32(), 3)), "day": pa.array([1], pa.int32()).cast(pa.date32()), "at": pa.array([86400000], pa.int64()).cast(pa.date64())})
    row = row.append_column(pa.field("photo", photo.type, metadata={"ARROW:extension:name": "lance.blob.v2"}), photo)
    lance.write_dataset(row, a, mode="append", data_storage_version="2.2")
    ds = lance.dataset(a)
    ds.validate()
    t = table(ds)
    new = t["_rowid"][t["id"].index("py")]
    assert new > before, (new, before)
    print(new)


{"twin": twin, "branch": branch, "same": same, "write": write}[sys.argv[1]](*sys.argv[2:])
