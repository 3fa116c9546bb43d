"""Reads, and maintains, every dataset of a graph.

  pylance_graph.py look ROOT [all] < TABLES      TABLES: [{path, branch (null = main), version}]
  pylance_graph.py maintain ROOT

look validates the newest version, or all, of every branch of every dataset and scans it, and prints for each of TABLES a digest of each row, sorted: of the columns in order of
their names, without an id that a program drew, blobs as their bytes. maintain compacts every dataset, brings its indexes up to date, cleans it, and demands the same rows after each; it prints
how many datasets and branches that were, and what was removed.
"""

import datetime
import glob
import hashlib
import json
import os
import re
import sys

import lance

STEP, ROOT = sys.argv[1:3]
MINTED = re.compile("01[0-9A-HJKMNP-TV-Z]{24}")
SYSTEM = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def is_blob(field):
    return getattr(field.type, "extension_name", "") == "lance.blob.v2" or (field.metadata or {}).get(b"ARROW:extension:name") == b"lance.blob.v2"


def at(path, branch, version=None):
    ds = lance.dataset(os.path.join(ROOT, path))
    return ds if branch is None and version is None else ds.checkout_version((branch, version))


def rows(ds, system=True):
    """The values of each row by id, with its row id and versions or without."""
    blobs = [f.name for f in ds.schema if is_blob(f)]
    names = sorted(f.name for f in ds.schema if f.name not in blobs)
    t = ds.scanner(columns=names + SYSTEM).to_table()
    cols = {n: t[n].to_pylist() for n in names + SYSTEM}
    ids, at = cols["id" if "id" in names else "object_id"], cols["_rowid"]
    assert t.num_rows == ds.count_rows(), (ds.uri, t.num_rows, ds.count_rows())
    assert len(set(ids)) == len(ids), (ds.uri, "ids", ids)
    assert len(set(at)) == len(at), (ds.uri, "row ids", at)
    for made, wrote in zip(cols[SYSTEM[1]], cols[SYSTEM[2]]):
        assert 1 <= made <= wrote <= ds.version, (ds.uri, made, wrote, ds.version)
    for n in blobs:
        what = ds.scanner(columns=[n]).to_table()[n].to_pylist()
        there = [i for i, d in enumerate(what) if d is not None]
        cols[n] = [None] * len(ids)
        if there:
            for i, b in zip(there, ds.take_blobs(n, ids=[at[i] for i in there])):
                cols[n][i] = b.readall()
    # A fork of a table without rows loses the stable ids when Lance makes it: there a compaction moves them.
    leave = [] if system and ds.has_stable_row_ids else SYSTEM[:1] if system else SYSTEM
    return {i: [cols[n][k] for n in sorted(cols) if n not in leave] for k, i in enumerate(ids)}


def digest(row):
    return hashlib.sha256(repr(["ID" if isinstance(v, str) and MINTED.fullmatch(v) else v for v in row]).encode()).hexdigest()


def datasets():
    for d in sorted(glob.glob(os.path.join(ROOT, "nodes/*")) + glob.glob(os.path.join(ROOT, "edges/*")) + [os.path.join(ROOT, "__manifest")]):
        yield os.path.relpath(d, ROOT), [None] + sorted(lance.dataset(d).branches.list())


def look():
    out = {"versions": 0, "indexes": 0, "tables": []}
    for path, branches in datasets():
        for branch in branches:
            head = at(path, branch)
            for v in head.versions() if sys.argv[3:] == ["all"] else head.versions()[-1:]:
                ds = at(path, branch, v["version"])
                ds.validate()
                rows(ds)
                out["versions"] += 1
            for index in head.describe_indices():
                head.stats.index_stats(index.name)
                out["indexes"] += 1
    for t in json.load(sys.stdin):
        out["tables"].append(sorted(map(digest, rows(at(t["path"], t["branch"], t["version"]), system=False).values())))
    return out


def maintain():
    out = {"datasets": 0, "branches": 0, "fragments": 0, "versions": 0}
    for path, branches in datasets():
        out["datasets"] += 1
        for branch in reversed(branches):  # what a branch rests on is cleaned last
            ds = at(path, branch)
            before = rows(ds)
            out["fragments"] += ds.optimize.compact_files(materialize_deletions_threshold=0.0).fragments_removed
            ds = at(path, branch)
            assert rows(ds) == before, (path, branch, "compaction")
            ds.optimize.optimize_indices()
            ds = at(path, branch)
            assert rows(ds) == before, (path, branch, "indexes")
            out["versions"] += ds.cleanup_old_versions(older_than=datetime.timedelta(0)).old_versions
            ds = at(path, branch)
            ds.validate()
            assert rows(ds) == before, (path, branch, "cleanup")
            out["branches"] += 1
    return out


print(json.dumps({"look": look, "maintain": maintain}[STEP]()))
