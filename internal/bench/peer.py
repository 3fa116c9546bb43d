"""The other side of the benchmark: writes the dataset, and times pylance.

Reads one command a line from standard input and answers one line of JSON:

  write PATH ROWS        a dataset in one data file, if PATH is not there yet
  scan PATH COL[,COL]    milliseconds (wall and processor) of one to_table
  take PATH SEED N COLS  milliseconds of one take of N rows
  single PATH SEED N COLS  milliseconds of N takes of one row each
  rewrite PATH TMP COLS  milliseconds of one write_dataset of the columns, which
                         are in memory, to TMP; and the bytes of the data file
"""
import json, os, random, shutil, sys, time

import numpy as np
import pyarrow as pa
import lance

WORDS = ("the quick brown fox jumps over a lazy dog and then goes home to sleep near river bank "
         "while rain falls on old stone houses of small quiet town where nobody ever asks why").split()


def table(rows):
    rng = np.random.default_rng(42)
    rnd = random.Random(42)
    prose = []
    for _ in range(rows):
        s = " ".join(rnd.choices(WORDS, k=9))
        prose.append(s[:42])
    kinds = ["kind number %02d" % i for i in range(50)]
    lens = rng.integers(0, 5, rows)
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(lens, out=offsets[1:])
    items = pa.array(rng.integers(0, 1 << 16, int(offsets[-1])), pa.int64())
    maybe = rng.integers(0, 1 << 20, rows).astype(np.int32)
    return pa.table({
        "i64": pa.array(rng.integers(0, 1 << 20, rows), pa.int64()),
        "f64": pa.array(rng.random(rows), pa.float64()),
        "prose": pa.array(prose, pa.string()),
        "kind": pa.array([kinds[i] for i in rng.integers(0, 50, rows)], pa.string()),
        "vec": pa.FixedSizeListArray.from_arrays(pa.array(rng.random(rows * 16, np.float32), pa.float32()), 16),
        "i64r": pa.array(rng.integers(-(1 << 62), 1 << 62, rows), pa.int64()),
        "i32n": pa.array(maybe, pa.int32(), mask=rng.random(rows) < 0.1),
        "bin": pa.array([p.encode() for p in prose], pa.binary()),
        "hex": pa.array([rnd.randbytes(16).hex() for _ in range(rows)], pa.string()),
        "list": pa.ListArray.from_arrays(pa.array(offsets), items),
    })


def write(path, rows):
    if not os.path.exists(path):
        tmp = path + ".part"
        lance.write_dataset(table(int(rows)), tmp, data_storage_version="2.2", max_rows_per_file=1 << 30)
        os.rename(tmp, path)
    return {"lance": lance.__version__, "pyarrow": pa.__version__}


opened = {}


def dataset(path):
    if path not in opened:
        opened[path] = lance.dataset(path)
    return opened[path]


def timed(f):
    busy, start = time.process_time(), time.perf_counter()
    out = f()
    ms, busy = (time.perf_counter() - start) * 1e3, (time.process_time() - busy) * 1e3
    del out
    return {"ms": ms, "cpu": busy}


def rows_of(seed, n, total):
    """The linear congruence that the Go side uses too."""
    x, out = int(seed), []
    for _ in range(int(n)):
        x = (x * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        out.append((x >> 33) % total)
    return out


def scan(path, cols):
    ds = dataset(path)
    return timed(lambda: ds.to_table(columns=cols.split(",")))


def take(path, seed, n, cols):
    ds = dataset(path)
    rows, names = rows_of(seed, n, ds.count_rows()), cols.split(",")
    return timed(lambda: ds.take(rows, columns=names))


def single(path, seed, n, cols):
    ds = dataset(path)
    rows, names = rows_of(seed, n, ds.count_rows()), cols.split(",")
    return timed(lambda: [ds.take([r], columns=names) for r in rows])


held = {}


def rewrite(path, tmp, cols):
    if path not in held:
        held[path] = dataset(path).to_table().combine_chunks()
    part = held[path].select(cols.split(","))
    shutil.rmtree(tmp, ignore_errors=True)
    out = timed(lambda: lance.write_dataset(part, tmp, data_storage_version="2.2", max_rows_per_file=1 << 30))
    data = os.path.join(tmp, "data")
    out["bytes"] = sum(os.path.getsize(os.path.join(data, f)) for f in os.listdir(data))
    shutil.rmtree(tmp)
    return out


for line in sys.stdin:
    name, *args = line.split()
    print(json.dumps({"write": write, "scan": scan, "take": take, "single": single, "rewrite": rewrite}[name](*args)), flush=True)
