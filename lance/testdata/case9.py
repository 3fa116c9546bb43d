"""Case 9 of the field reports: nulls and empties, of a whole life.

  case9.py OUT make     the tables of ../file/testdata/tables.py, as OUT/<name>/values.arrow; and OUT/<name>/theirs, a dataset of pylance: five fragments
                        (version 5), the first row deleted (6), compacted (the newest). OUT/index.json names them
  case9.py OUT check    reads OUT/<name>/ours, with the same versions up to 6, whole, backwards and by one column; compacts it, and reads it again.
                        Prints, as JSON, what is wrong, and what pylance could not read of what pylance compacted
"""

import json
import os
import sys

import lance
import pyarrow as pa

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../file/testdata"))
import tables

OUT, STEP = sys.argv[1:3]


def make():
    names = []
    for name, t, values in tables.null_rows():
        where = os.path.join(OUT, name)
        table = pa.table({"id": pa.array(range(len(values)), pa.int64()), "v": pa.array(values, t)})
        data = os.path.join(where, "theirs")
        os.makedirs(where)
        try:
            for i in range(5):
                lance.write_dataset(table, data, mode="append" if i else "create", data_storage_version="2.2", enable_stable_row_ids=True)
            ds = lance.dataset(data)
            first = ds.scanner(columns=[], with_row_id=True, limit=1).to_table()["_rowid"][0].as_py()
            ds.delete(f"_rowid = {first}")
        except BaseException as e:  # the writer panics on some
            print(name, str(e).splitlines()[0][:200], file=sys.stderr)
            continue
        with pa.OSFile(os.path.join(where, "values.arrow"), "wb") as f:
            with pa.ipc.new_file(f, table.schema) as w:
                w.write_table(table.combine_chunks())
        compacted = True
        try:
            lance.dataset(data).optimize.compact_files()
        except BaseException:
            compacted = False
        names.append({"name": name, "compacted": compacted})
    json.dump(names, open(os.path.join(OUT, "index.json"), "w"))


def plain(t, name):
    c = t[name].combine_chunks()
    if isinstance(c, pa.ChunkedArray):
        c = pa.concat_arrays(c.chunks)
    if pa.types.is_temporal(c.type):
        c = c.view(pa.int64() if c.type.bit_width == 64 else pa.int32())
    return c.to_pylist()


def check():
    wrong, unread = [], []
    for name in sorted(os.listdir(OUT)):
        uri = os.path.join(OUT, name, "ours")
        if not os.path.isdir(uri):
            continue
        with pa.memory_map(os.path.join(OUT, name, "values.arrow")) as f:
            values = pa.ipc.open_file(f).read_all()
        five = {n: plain(values, n) * 5 for n in ("id", "v")}

        def look(what, ds, want):
            n = len(want["v"])
            ds.validate()
            got = ds.to_table()
            back = list(range(n))[::-1][:50]
            for how, t, rows in (("whole", got, range(n)), ("one column", ds.to_table(columns=["v"]), range(n)), ("backwards", ds.take(back), back)):
                for col in t.column_names:
                    if repr(plain(t, col)) != repr([want[col][i] for i in rows]):
                        wrong.append(f"{name}, {what}, {how}: {plain(t, col)!r:.200}, want {[want[col][i] for i in rows]!r:.200}")
            if ds.count_rows() != n:
                wrong.append(f"{name}, {what}: {ds.count_rows()} rows")

        look("five fragments", lance.dataset(uri, version=5), five)
        rest = {n: v[1:] for n, v in five.items()}
        look("after a deletion", lance.dataset(uri), rest)
        try:
            lance.dataset(uri).optimize.compact_files()
            look("compacted", lance.dataset(uri), rest)
        except BaseException as e:
            unread.append(name)
    print(json.dumps({"wrong": wrong, "unread": unread}))


{"make": make, "check": check}[STEP]()
