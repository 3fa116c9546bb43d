"""Goes on with a dataset that omnideck wrote.

  take_over.py index DIR    builds indexes
  take_over.py check DIR    compares, changes, compacts and cleans it
  take_over.py count DIR N  opens it once more, with N rows

DIR/t.lance is the dataset, DIR/expected.arrow its rows, blobs as bytes, with
their row ids and versions. check leaves what pylance then reads in
DIR/after.arrow. Every difference is printed, and makes the script fail.
"""
import datetime, os, sys

import lance
import pyarrow as pa
import pyarrow.ipc as ipc

SYSTEM = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]
wrong = []


def say(what, got, want):
    if got != want:
        wrong.append("%s: %.300r, want %.300r" % (what, got, want))


def rows(ds, columns=None, **kw):
    names = columns or [f.name for f in ds.schema if f.name != "photo"] + SYSTEM
    return ds.scanner(columns=names, **kw).to_table()


def by_id(t):
    cols = []
    for name in t.column_names:
        c = t.column(name)
        cols.append(c.cast(pa.int64()).to_pylist() if pa.types.is_date64(c.type) else c.to_pylist())
    return {r[t.column_names.index("id")]: r for r in zip(*cols)}


def blobs(ds):
    t = ds.scanner(columns=["id", "photo"], with_row_id=True).to_table()
    ids, at, what = (t.column(n).to_pylist() for n in ("id", "_rowid", "photo"))
    there = [i for i, d in enumerate(what) if d is not None]
    out = dict.fromkeys(ids)
    if there:
        for i, b in zip(there, ds.take_blobs("photo", ids=[at[i] for i in there])):
            out[ids[i]] = b.readall()
    return out


def same_rows(what, ds, want):
    plain = want.drop(["photo"])
    say(what + ", columns", ds.schema.names, [n for n in want.column_names if n not in SYSTEM])
    got = rows(ds)
    say(what + ", rows", got.num_rows, want.num_rows)
    say(what + ", count", ds.count_rows(), want.num_rows)
    a, b = by_id(got), by_id(plain.select(got.column_names))
    for id in sorted(set(a) | set(b)):
        say(what + ", row " + id, a.get(id), b.get(id))
    got, expected = blobs(ds), dict(zip(want.column("id").to_pylist(), want.column("photo").to_pylist()))
    for id in expected:
        say(what + ", photo of " + id, got.get(id), expected[id])


def searches(what, ds):
    """With indexes and without: the same."""
    ids = rows(ds, ["id"]).column("id").to_pylist()
    for f in ["id = '%s'" % ids[0], "id in ('%s')" % "','".join(ids[::3] + ["nobody"]), "n = 7", "n > 20", "n is null"]:
        got = sorted(rows(ds, ["id"], filter=f).column("id").to_pylist())
        want = sorted(rows(ds, ["id"], filter=f, use_scalar_index=False).column("id").to_pylist())
        say("%s, %s" % (what, f), got, want)
    if any("text" in d.field_names for d in ds.describe_indices()):
        all = rows(ds, ["id", "text"])
        for word in ["ann", "tea", "wind"]:
            got = ds.scanner(columns=["id"], full_text_query=word).to_table().column("id").to_pylist()
            want = [i for i, t in zip(*(all.column(n).to_pylist() for n in ("id", "text"))) if word in t.split()]
            say("%s, search for %s" % (what, word), sorted(got), sorted(want))


def index(dir):
    ds = lance.dataset(os.path.join(dir, "t.lance"))
    ds.validate()
    for column, kind in [("id", "BTREE"), ("n", "BTREE"), ("text", "INVERTED")]:
        ds.create_scalar_index(column, kind, replace=True)
    ds.create_index("vec", "IVF_FLAT", num_partitions=1, metric="L2", replace=True)


def check(dir):
    uri = os.path.join(dir, "t.lance")
    want = ipc.open_file(os.path.join(dir, "expected.arrow")).read_all()
    ds = lance.dataset(uri)
    ds.validate()
    same_rows("as written", ds, want)
    searches("as written", ds)
    ids = want.column("id").to_pylist()
    ds.delete("id in ('%s')" % "','".join(ids[1:4]))
    ds = lance.dataset(uri)
    ds.validate()
    source = rows(ds, [f.name for f in ds.schema if f.name != "photo"]).slice(0, 3)
    source = pa.concat_tables([source, source.set_column(0, source.schema.field("id"), pa.array(["py-%d" % i for i in range(source.num_rows)]))])
    blob = pa.struct([pa.field("data", pa.large_binary()), pa.field("uri", pa.string())])  # as the Rust engine has it
    photo = pa.array([{"data": b"from python", "uri": None}] * source.num_rows, blob)
    source = source.append_column(pa.field("photo", blob, metadata={"ARROW:extension:name": "lance.blob.v2"}), photo)
    stats = ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(source)
    say("merged", (stats["num_updated_rows"], stats["num_inserted_rows"]), (source.num_rows // 2, source.num_rows // 2))
    ds = lance.dataset(uri)
    ds.validate()
    searches("merged", ds)
    before, pictures = by_id(rows(ds)), blobs(ds)
    say("merged, rows", len(before), want.num_rows - len(ids[1:4]) + source.num_rows // 2)
    ds.optimize.compact_files(target_rows_per_fragment=64)
    ds.optimize.optimize_indices()
    ds = lance.dataset(uri)
    ds.validate()
    say("compacted, rows", by_id(rows(ds)), before)
    searches("compacted", ds)
    removed = ds.cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True)
    if removed.old_versions == 0:
        wrong.append("the cleanup removed no version")
    ds = lance.dataset(uri)
    ds.validate()
    say("cleaned, rows", by_id(rows(ds)), before)
    say("cleaned, photos", blobs(ds), pictures)
    after = rows(ds, None, with_row_address=True)
    with ipc.new_file(os.path.join(dir, "after.arrow"), after.schema) as w:
        w.write_table(after)


def count(dir, n):
    ds = lance.dataset(os.path.join(dir, "t.lance"))
    ds.validate()
    say("counted", (ds.count_rows(), rows(ds).num_rows), (int(n), int(n)))
    searches("written to once more", ds)


{"index": index, "check": check, "count": count}[sys.argv[1]](*sys.argv[2:])
if wrong:
    sys.exit("\n".join(wrong[:20]))
