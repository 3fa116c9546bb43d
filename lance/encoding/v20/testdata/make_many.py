# Makes many.lance and many.arrow. Needs pylance 10.0.0 and pyarrow.
import random

import pyarrow as pa
import pyarrow.ipc as ipc
from lance.file import LanceFileReader, LanceFileWriter

random.seed(5)
words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()


def compressed(how):
    return {"lance-encoding:compression": how}


def text(n):
    return " ".join(random.choice(words) for _ in range(n))


def maybe(x):
    return None if random.random() < 0.15 else x


def some(f, most):
    return maybe([f() for _ in range(random.randint(0, most))])


schema = pa.schema([
    pa.field("fsst", pa.string(), metadata=compressed("fsst")),
    pa.field("zstd", pa.string(), metadata=compressed("zstd")),
    pa.field("lz4", pa.binary(), metadata=compressed("lz4")),
    pa.field("l", pa.list_(pa.int32())),
    pa.field("ls", pa.list_(pa.struct([pa.field("t", pa.string()), pa.field("ll", pa.list_(pa.int64()))]))),
    pa.field("big", pa.large_list(pa.string())),
    pa.field("v", pa.list_(pa.float32(), 3)),
])


def row(i):
    short = lambda: text(random.randint(0, 9))
    return {
        "fsst": maybe(text(80)),
        "zstd": maybe(short()),
        "lz4": maybe(short().encode()),
        "l": some(lambda: maybe(random.randint(-9, 9)), 5),
        "ls": some(lambda: {"t": maybe(short()), "ll": some(lambda: random.randint(0, 99), 3)}, 3),
        "big": some(lambda: maybe(short()), 3),
        "v": maybe([1.5, float(i), 2.5]),
    }


batches = [pa.RecordBatch.from_pylist([row(i) for i in range(90)], schema=schema) for _ in range(4)]
with LanceFileWriter("many.lance", schema, version="2.0", data_cache_bytes=3000) as w:
    for batch in batches:
        w.write_batch(batch)
table = LanceFileReader("many.lance").read_all().to_table().combine_chunks()
assert table.equals(pa.Table.from_batches(batches).combine_chunks())
with ipc.new_file("many.arrow", table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as w:
    w.write_table(table)
