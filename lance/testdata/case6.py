"""Case 6 of the field reports: two writers, one new key. Reads steps, one a line, and answers each with a line.

  create DIR keyed|plain     id: string not null, v: int64, one row z = 0
  upsert DIR VERSION         a = 1, b = 2, by id, from a handle at VERSION; answers "inserted updated"
  append DIR                 a = 5, without a key filter
  byvalue DIR                a = 5, merged by v: a filter on another column than the key
  rows DIR                   answers the rows of the newest version, and validates it
"""

import sys

import lance
import pyarrow as pa


def table(rows, mark=False):
    meta = {b"lance-schema:unenforced-primary-key": b"true"} if mark else None
    schema = pa.schema([pa.field("id", pa.string(), nullable=False, metadata=meta), pa.field("v", pa.int64())])
    return pa.table([list(rows), list(rows.values())], schema=schema)


def do(step, folder, *args):
    uri = folder + "/t"
    if step == "create":
        lance.write_dataset(table({"z": 0}, args[0] == "keyed"), uri, data_storage_version="2.2", enable_stable_row_ids=True)
    elif step == "upsert":
        ds = lance.dataset(uri, version=int(args[0]))
        done = ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(table({"a": 1, "b": 2}))
        return f"{done['num_inserted_rows']} {done['num_updated_rows']}"
    elif step == "append":
        lance.write_dataset(table({"a": 5}), uri, mode="append")
    elif step == "byvalue":
        lance.dataset(uri).merge_insert("v").when_matched_update_all().when_not_matched_insert_all().execute(table({"a": 5}))
    elif step == "rows":
        ds = lance.dataset(uri)
        ds.validate()
        t = ds.to_table()
        return " ".join(f"{k}={v}" for k, v in sorted(zip(t["id"].to_pylist(), t["v"].to_pylist())))
    return "done"


for line in sys.stdin:
    print(do(*line.rstrip("\n").split("\t")), flush=True)
