"""Makes Lance datasets with pylance, so that each operation leads from one version to the next.

usage: make_pairs.py OUTDIR
"""

import os
import sys

import lance
import pyarrow as pa

OUT = sys.argv[1]


def rows(lo, hi):
    ids = list(range(lo, hi))
    return pa.table({
        "id": pa.array([f"r{i}" for i in ids]),
        "n": pa.array(ids, pa.int64()),
        "x": pa.array([i * 0.5 for i in ids], pa.float64()),
        "v": pa.array([[float(i), 1.0, 2.0, 3.0] for i in ids], pa.list_(pa.float32(), 4)),
        "s": pa.array([{"p": i, "q": str(i)} for i in ids], pa.struct([("p", pa.int32()), ("q", pa.string())])),
    })


def uri(name):
    return os.path.join(OUT, name)


def config(u):
    ds = lance.dataset(u)
    ds.update_config({"k": "1", "lance.auto_cleanup.older_than": "14days"})
    ds = lance.dataset(u)
    ds.delete_config_keys(["k"])
    ds = lance.dataset(u)
    ds.update_metadata({"owner": "a"})
    ds.update_metadata({"other": "b", "owner": None})
    ds.update_metadata({"only": "c"}, replace=True)
    ds.update_schema_metadata({"sm": "1"})
    ds.update_field_metadata({"n": {"unit": "m"}})
    lance.dataset(u).delete("n = 1")


def indexed(u):
    ds = lance.dataset(u)
    ds.create_scalar_index("n", "BTREE")
    ds.create_scalar_index("id", "BTREE")
    ds.create_index("v", "IVF_FLAT", num_partitions=1, metric="L2")
    lance.write_dataset(rows(400, 440), u, mode="append")
    ds = lance.dataset(u)
    ds.update({"x": "x + 1"}, where="n = 5 or n = 405")
    ds.update({"n": "n + 1000"}, where="n = 6")
    ds.update({"x": "0.0"}, where="n < 300")
    ds.optimize.optimize_indices()
    ds = lance.dataset(u)
    ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(430, 450))
    ds = lance.dataset(u)
    ds.create_scalar_index("n", "BTREE", replace=True)
    ds.delete("n > 400")
    lance.write_dataset(rows(500, 510), u, mode="append")
    lance.write_dataset(rows(510, 520), u, mode="append")
    ds = lance.dataset(u)
    ds.optimize.compact_files()
    ds = lance.dataset(u)
    ds.drop_index("n_idx")
    ds.drop_columns(["v"])
    ds.delete("true")
    lance.dataset(u, version=4).restore()
    lance.write_dataset(rows(0, 5), u, mode="overwrite")
    lance.write_dataset(rows(5, 9), u, mode="append")


def columns(u):
    ds = lance.dataset(u)
    ds.add_columns({"twice": "n * 2"})
    ds.alter_columns({"path": "twice", "name": "double"})
    ds.alter_columns({"path": "n", "data_type": pa.int32()})
    ds.add_columns(pa.field("void", pa.string()))
    ds.drop_columns(["x", "s"])
    ds.merge(pa.table({"id": [f"r{i}" for i in range(30)], "late": pa.array(range(30), pa.int64())}), "id")
    ds.delete("n = 3")
    ds.update({"late": "7"}, where="n = 4")
    ds.merge_insert("id").when_matched_update_all().execute(pa.table({"id": ["r8", "r9"], "late": pa.array([1, 2], pa.int64())}))


def upserts(u):
    ds = lance.dataset(u)
    for k in range(4):
        ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(3 * k, 300 + 7 * k))
    ds.merge_insert("id").when_not_matched_insert_all().execute(rows(320, 330))
    ds.merge_insert("id").when_matched_update_all().execute(rows(20, 21))
    ds.merge_insert("id").when_matched_update_all().when_not_matched_by_source_delete("n > 310").execute(rows(0, 9))
    ds.update({"n": "n"}, where="n % 3 = 0")
    ds.delete("n % 2 = 0")
    ds.delete("n = 99999")
    ds.optimize.compact_files()


def branched(u):
    ds = lance.dataset(u)
    ds.create_scalar_index("n", "BTREE")
    dev = ds.create_branch("dev")
    dev.delete("n = 5")
    dev.update({"x": "1.0"}, where="n = 7")
    sub = dev.create_branch("sub")
    sub.delete("x = 4.0")  # not by the index, which Lance no longer finds on a branch of a branch
    sub.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(29, 33))
    sub.create_branch("subsub").delete("x = 5.0")


def main():
    for stable in (True, False):
        for storage in ("2.1", "2.2"):
            for what in (config, indexed, columns, upserts, branched):
                if storage == "2.1" and (what is not upserts or not stable):
                    continue
                name = f"{what.__name__}_{storage}_{'stable' if stable else 'addresses'}"
                lance.write_dataset(rows(0, 300 if what in (indexed, upserts) else 30), uri(name), enable_stable_row_ids=stable, data_storage_version=storage, max_rows_per_file=120)
                what(uri(name))


main()
