"""Reads data files that omnideck wrote, with pylance, and compares.

  readback.py DIR

Each folder of DIR is a case: data.lance, the file, and expected.arrow, the
table as an Arrow file. A case with dataset.json instead has a data folder, and
the fields and columns of the one data file in it, of which a dataset is made:
columns of blobs are then compared by their payloads.

Every file is read whole, in ranges and by rows. Prints one line of JSON: the
cases compared, and what differs.
"""
import json, os, random, sys

import pyarrow as pa
import lance
from lance.file import LanceFileReader


def plain(t):
    """The columns of a table as Python values."""
    cols = []
    for c in t.columns:
        c = c.combine_chunks()
        if isinstance(c, pa.ChunkedArray):
            c = pa.concat_arrays(c.chunks) if c.num_chunks else pa.array([], c.type)
        if pa.types.is_temporal(c.type):  # nanoseconds have no Python value
            c = c.view(pa.int64() if c.type.bit_width == 64 else pa.int32())
        cols.append(c.to_pylist())
    return cols


def same(a, b):
    """Equal, NaN too."""
    return a == b or repr(a) == repr(b)


def differs(case, what, got, want, names):
    out = []
    for name, g, w in zip(names, got, want):
        if len(g) != len(w):
            out.append("%s, %s: column %s has %d rows, want %d" % (case, what, name, len(g), len(w)))
        elif not same(g, w):
            i = next((i for i in range(len(g)) if not same(g[i], w[i])), -1)
            if i >= 0:
                out.append("%s, %s: column %s, row %d: got %.120r, want %.120r" % (case, what, name, i, g[i], w[i]))
    return out


def file_case(case, path, want, rnd):
    r = LanceFileReader(os.path.join(path, "data.lance"))
    names, n = want.column_names, want.num_rows
    if r.metadata().num_rows != n:
        return ["%s: %d rows, want %d" % (case, r.metadata().num_rows, n)]
    cols = plain(want)
    out = differs(case, "scan", plain(r.read_all(batch_size=rnd.choice([7, 1000, 8192])).to_table()), cols, names)
    for _ in range(3 if n else 0):
        a = rnd.randrange(n)
        b = rnd.randint(a + 1, n)
        got = plain(r.read_range(a, b - a).to_table())
        out += differs(case, "range %d to %d" % (a, b), got, [c[a:b] for c in cols], names)
    if n:
        rows = sorted(set([0, n - 1] + [rnd.randrange(n) for _ in range(40)]))
        got = plain(r.take_rows(rows).to_table())
        out += differs(case, "take", got, [[c[i] for i in rows] for c in cols], names)
    return out


def dataset_case(case, path, want, rnd):
    about = json.load(open(os.path.join(path, "dataset.json")))
    schema = pa.schema([lance.blob_field(f.name) if f.name in about["blobs"] else f for f in want.schema])
    file = lance.fragment.DataFile(about["path"], about["fields"], about["columns"], 2, 2, about["size"])
    frag = lance.FragmentMetadata(0, [file], want.num_rows)
    ds = lance.LanceDataset.commit(path, lance.LanceOperation.Overwrite(schema, [frag]))
    ds.validate()
    out, n = [], want.num_rows
    others = [c for c in want.column_names if c not in about["blobs"]]
    if others:
        got = ds.to_table(columns=others)
        cols = plain(want.select(others))
        out += differs(case, "scan", plain(got), cols, others)
        rows = sorted(set(rnd.randrange(n) for _ in range(40 if n else 0)))
        got = ds.take(rows, columns=others)
        out += differs(case, "take", plain(got), [[c[i] for i in rows] for c in cols], others)
    for name in about["blobs"]:
        expected = want.column(name).to_pylist()
        described = ds.to_table(columns=[name]).column(name).to_pylist()
        for i, (d, w) in enumerate(zip(described, expected)):
            if (d is None) != (w is None):
                out.append("%s: blob %s, row %d: %r, want %r" % (case, name, i, d, w))
            elif d is not None and d["kind"] == 3 and d["blob_uri"] != w.decode():
                out.append("%s: blob %s, row %d: %r, want %r" % (case, name, i, d, w))
        rows = [i for i, d in enumerate(described) if d is not None and d["kind"] != 3]
        for i, b in zip(rows, ds.take_blobs(name, indices=rows) if rows else []):
            if b.read() != expected[i]:
                out.append("%s: blob %s, row %d differs" % (case, name, i))
    return out


def main(root):
    done, wrong, rnd = 0, [], random.Random(1)
    for case in sorted(os.listdir(root)):
        path = os.path.join(root, case)
        want = pa.ipc.open_file(os.path.join(path, "expected.arrow")).read_all()
        compare = dataset_case if os.path.exists(os.path.join(path, "dataset.json")) else file_case
        try:
            wrong += compare(case, path, want, rnd)
        except BaseException as e:  # a panic of Rust is a BaseException
            wrong.append("%s: %r" % (case, e))
        done += 1
    print(json.dumps({"pylance": lance.__version__, "done": done, "wrong": wrong}))


main(sys.argv[1])
