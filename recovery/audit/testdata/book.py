"""The book of recoveries, as Lance makes and reads it.

  book.py make DIR    DIR/theirs: empty version 1 and one Append, as the Rust engine writes them
  book.py read URI    validates every version, and prints the rows of the newest as JSON
  book.py append URI  appends a row
"""
import datetime, json, sys

import lance
import pyarrow as pa

NAMES = ["graph_commit_id", "recovery_kind", "recovery_for_actor", "operation_id", "sidecar_writer_kind", "per_table_outcomes_json"]
SCHEMA = pa.schema([pa.field(n, pa.string(), nullable=n == "recovery_for_actor") for n in NAMES] + [pa.field("created_at", pa.timestamp("us"), nullable=False)])
ROW = {"graph_commit_id": "01C", "recovery_kind": "RolledBack", "recovery_for_actor": None, "operation_id": "01P", "sidecar_writer_kind": "Mutation",
       "per_table_outcomes_json": '[{"table_key":"node:A","from_version":3,"to_version":2}]', "created_at": datetime.datetime(2026, 11, 30, 1, 2, 3, 456789)}


def table(rows):
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def make(dir):
    lance.write_dataset(table([]), dir + "/theirs", mode="create", enable_stable_row_ids=True, data_storage_version="2.2")
    lance.write_dataset(table([ROW]), dir + "/theirs", mode="append")


def read(uri):
    ds = lance.dataset(uri)
    for v in ds.versions():
        lance.dataset(uri, version=v["version"]).validate()
    assert ds.schema == SCHEMA, ds.schema
    rows = ds.to_table().to_pylist()
    for r in rows:
        r["created_at"] = int((r["created_at"] - datetime.datetime(1970, 1, 1)) / datetime.timedelta(microseconds=1))
    print(json.dumps(rows))


def append(uri):
    lance.write_dataset(table([ROW]), uri, mode="append")


{"make": make, "read": read, "append": append}[sys.argv[1]](sys.argv[2])
