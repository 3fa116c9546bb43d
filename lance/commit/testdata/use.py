"""Uses a dataset that another program committed.

usage: use.py STEP URI ROWS        ROWS: {id: n} as JSON, what must be there

Every step opens the dataset, validates it, and compares its rows with ROWS; then it goes on as its name says. Prints the rows in the end, as JSON.
"""

import datetime
import json
import sys

import lance
import pyarrow as pa

STEP, URI, ROWS = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
ds = lance.dataset(URI)


def table(d):
    return pa.table({"id": pa.array(list(d)), "n": pa.array(list(d.values()), pa.int64())}, schema=ds.schema)


def check(want):
    d = lance.dataset(URI)
    d.validate()
    t = d.to_table()
    got = dict(zip(t["id"].to_pylist(), t["n"].to_pylist()))
    assert got == want, (STEP, got, want)
    assert d.count_rows() == len(want) == t.num_rows, (STEP, d.count_rows(), len(want))
    for n in sorted(want.values())[:5] + [max(want.values(), default=0)]:
        found = d.to_table(filter=f"n = {n}")["id"].to_pylist()
        assert sorted(found) == sorted(k for k, v in want.items() if v == n), (STEP, n, found)
    v = d.scanner(columns=["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]).to_table()
    ids = v["_rowid"].to_pylist()
    assert len(set(ids)) == len(ids), (STEP, "row ids", ids)
    for made, wrote in zip(v["_row_created_at_version"].to_pylist(), v["_row_last_updated_at_version"].to_pylist()):
        assert 1 <= made <= wrote <= d.version, (STEP, made, wrote)
    return d, got


ds, rows = check(ROWS)
if STEP == "index":
    ds.create_scalar_index("n", "BTREE")
elif STEP == "write":
    a, b, c = (f"p{ds.version}{x}" for x in "abc")
    lance.write_dataset(table({a: 501, b: 502}), URI, mode="append")
    rows |= {a: 501, b: 502}
    ds, rows = check(rows)
    ds.delete(f"id = 'k5' or id = '{a}'")
    rows.pop("k5"), rows.pop(a)
    ds, rows = check(rows)
    new = {"k6": 606, "k3": 603, c: 503}
    ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(table(new))
    ds, rows = check(rows | new)
    ds.update({"n": "n + 1"}, where="id = 'k100'")
    rows["k100"] += 1
    check(rows)
elif STEP == "maintain":
    ds.optimize.compact_files()
    ds, rows = check(rows)
    ds.optimize.optimize_indices()
    ds, rows = check(rows)
    ds.cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True)
    check(rows)
elif STEP == "history":
    for v in lance.dataset(URI).versions():
        lance.dataset(URI, version=v["version"]).validate()
        lance.dataset(URI, version=v["version"]).to_table()
print(json.dumps(rows))
