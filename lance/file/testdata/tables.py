"""Writes tables with pylance for the tests of lance/file.

  tables.py OUT random SEED COUNT   random tables: nested types, all leaf types, options of encodings
  tables.py OUT nulls               the tables of case 9 (nulls and empties), in one and in five fragments
  tables.py OUT fields              the tables of case 12 (permuted, dropped and absent columns)

Each table is OUT/NAME/data.lance, with OUT/NAME/expected.arrow beside it: the
values that went in, not what pylance reads. OUT/index.json lists them.
"""
import datetime as dtm, decimal, json, os, random, string, sys

import pyarrow as pa
import lance

out = sys.argv[1]  # of a script that imports this one, too
cases = []
refused = []


def save(name, batches, version, expected=None, **options):
    """Write tables one after the other, each as a fragment, and what they hold together."""
    where = os.path.join(out, name)
    os.makedirs(where)
    data = os.path.join(where, "data.lance")
    try:
        for i, t in enumerate(batches):
            lance.write_dataset(t, data, mode="append" if i else "create", data_storage_version=version, **options)
    except BaseException as e:  # the writer of pylance panics on some tables
        refused.append("%s: %s" % (name, str(e).splitlines()[0][:200]))
        return None
    case(name, expected if expected is not None else pa.concat_tables(batches))
    return lance.dataset(data)


def case(name, expected):
    where = os.path.join(out, name)
    plain = expected.combine_chunks()
    with pa.OSFile(os.path.join(where, "expected.arrow"), "wb") as f:
        with pa.ipc.new_file(f, plain.schema.remove_metadata()) as w:
            w.write_table(plain.replace_schema_metadata(None))
    cases.append({"case": name, "version": "", "kind": "dataset", "rows": plain.num_rows,
                  "dataset": name + "/data.lance", "expected": name + "/expected.arrow"})


# ---------------------------------------------------------------- random tables

def text(rng, n):
    return "".join(rng.choices(string.ascii_letters + " äßж", k=n))


EPOCH = dtm.datetime(1970, 1, 1)

LEAVES = {
    "bool": (pa.bool_(), lambda r: r.random() < .5),
    "i8": (pa.int8(), lambda r: r.randint(-128, 127)), "u8": (pa.uint8(), lambda r: r.randint(0, 255)),
    "i16": (pa.int16(), lambda r: r.randint(-3000, 3000)), "u16": (pa.uint16(), lambda r: r.randint(0, 60000)),
    "i32": (pa.int32(), lambda r: r.randint(-5, 1 << 20)), "u32": (pa.uint32(), lambda r: r.randint(0, 1 << 30)),
    "i64": (pa.int64(), lambda r: r.randint(0, 1 << r.choice([3, 20, 50]))), "u64": (pa.uint64(), lambda r: r.randint(0, (1 << 64) - 1)),
    "f16": (pa.float16(), None), "f32": (pa.float32(), lambda r: r.random()), "f64": (pa.float64(), lambda r: r.choice([r.random(), 0.0, -0.0, float("nan"), float("inf")])),
    "date32": (pa.date32(), lambda r: r.randint(-10000, 40000)), "date64": (pa.date64(), lambda r: r.randint(-10000, 40000) * 86400000),
    "ts_us": (pa.timestamp("us"), lambda r: r.randint(-10**15, 10**15)), "ts_ns_tz": (pa.timestamp("ns", "Europe/Berlin"), lambda r: r.randint(0, 10**18)),
    "ts_s": (pa.timestamp("s", "UTC"), lambda r: r.randint(0, 10**9)), "time32": (pa.time32("ms"), lambda r: r.randint(0, 86399999)),
    "time64": (pa.time64("ns"), lambda r: r.randint(0, 86399 * 10**9)), "dur": (pa.duration("ms"), lambda r: r.randint(-10**9, 10**9)),
    "dec": (pa.decimal128(20, 3), lambda r: decimal.Decimal(r.randint(-10**12, 10**12)).scaleb(-3)),
    "dec256": (pa.decimal256(50, 2), lambda r: decimal.Decimal(r.randint(-10**30, 10**30)).scaleb(-2)),
    "fsb": (pa.binary(7), lambda r: r.randbytes(7)),
    "str": (pa.string(), lambda r: text(r, r.choice([0, 3, 9, 30]))), "lstr": (pa.large_string(), lambda r: text(r, r.randint(0, 12))),
    "bin": (pa.binary(), lambda r: r.randbytes(r.randint(0, 20))), "lbin": (pa.large_binary(), lambda r: r.randbytes(r.randint(0, 40))),
    "wide": (pa.string(), lambda r: text(r, r.randint(200, 700))), "prose": (pa.string(), lambda r: "the same words again and again %d" % r.randint(0, 10**6)),
    "vec4": (pa.list_(pa.float32(), 4), lambda r: [r.random() for _ in range(4)]),
    "vec80": (pa.list_(pa.float32(), 80), lambda r: [r.random() for _ in range(80)]),
    "vecu8": (pa.list_(pa.uint8(), 3), lambda r: [r.randint(0, 9) if r.random() < .8 else None for _ in range(3)]),
}
LEAVES["dict8"] = (pa.dictionary(pa.int8(), pa.string()), lambda r: "word %d" % r.randint(0, 20))
LEAVES["dict32"] = (pa.dictionary(pa.int32(), pa.int64()), lambda r: r.randint(0, 300))
HEAVY = {"wide", "vec80"}


def packed(rng, version):
    """A struct that is stored row by row; with texts only in 2.2."""
    names = ["u8", "i64", "f32", "i16", "vec4"] + (["str", "lbin"] if version == "2.2" else [])
    parts = [LEAVES[rng.choice(names)] for _ in range(rng.randint(1, 4))]
    t = pa.struct([pa.field("p%d" % i, p[0], nullable=False) for i, p in enumerate(parts)])
    nulls = rng.choice([0, 0, .2]) if version == "2.2" and any(p[0] in (pa.string(), pa.large_binary()) for p in parts) else 0
    return t, lambda r: None if r.random() < nulls else {"p%d" % i: p[1](r) for i, p in enumerate(parts)}


def fixed_structs(rng):
    """A fixed-size list of structs without lists."""
    parts = [leaf(rng, True) for _ in range(rng.randint(1, 2))]
    t = pa.list_(pa.struct([("f%d" % i, p[0]) for i, p in enumerate(parts)]), rng.randint(1, 3))
    nulls = rng.choice([0, .3])
    item = lambda r: None if r.random() < nulls else {"f%d" % i: p[1](r) for i, p in enumerate(parts)}
    return t, lambda r: None if r.random() < nulls else [item(r) for _ in range(t.list_size)]


def leaf(rng, light):
    names = [n for n in LEAVES if LEAVES[n][1] and not (light and n in HEAVY)]
    t, make = LEAVES[rng.choice(names)]
    mode = rng.choice(["free", "free", "free", "few", "one", "runs", "null"] if rng.random() < .8 else ["free"])
    nulls = rng.choice([0, 0, .1, .7])
    pool = [make(rng) for _ in range(rng.choice([2, 5, 40]))]
    state = {"left": 0, "v": pool[0]}

    def value(r):
        if mode == "null" or r.random() < nulls:
            return None
        if mode == "free":
            return make(r)
        if mode == "few":
            return r.choice(pool)
        if mode == "one":
            return pool[0]
        if state["left"] == 0:
            state["left"], state["v"] = r.randint(1, 400), r.choice(pool)
        state["left"] -= 1
        return state["v"]

    return t, value


def tree(rng, depth, version, light):
    """A random type and a function that makes values of it."""
    kinds = ["leaf"] * 3 + (["list", "large_list", "struct"] if depth else [])
    if version == "2.0":
        kinds = ["leaf", "list"] if depth else ["leaf"]  # null structs are lost in 2.0
    if depth and version == "2.2":
        kinds += ["map"]
    kind = rng.choice(kinds)
    nulls = rng.choice([0, .15, .5])
    none = lambda r: r.random() < nulls
    if kind == "leaf":
        return leaf(rng, light)
    if kind == "struct":
        parts = [tree(rng, depth - 1, version, light) for _ in range(rng.randint(1, 3))]
        t = pa.struct([("f%d" % i, p[0]) for i, p in enumerate(parts)])
        return t, lambda r: None if none(r) else {"f%d" % i: p[1](r) for i, p in enumerate(parts)}
    it, iv = tree(rng, depth - 1, version, light)
    lens = rng.choice([[0, 1, 2], [0], [1], [3, 8], [0, 0, 0, 0, 30], [2] * 50 + [300]])
    if kind == "map":
        return pa.map_(pa.string(), it), lambda r: None if none(r) else [("k%d" % i, iv(r)) for i in range(r.choice(lens) % 9)]
    t = pa.list_(it) if kind == "list" else pa.large_list(it)
    return t, lambda r: None if none(r) else [iv(r) for _ in range(r.choice(lens))]


OPTIONS = [{}, {}, {}, {"compression": "zstd"}, {"compression": "lz4"}, {"compression": "none"}, {"compression": "fsst"},
           {"structural-encoding": "fullzip"}, {"structural-encoding": "miniblock"}, {"compression": "zstd", "bss": "on"}]


def random_table(seed):
    rng = random.Random(seed)
    version = rng.choice(["2.0", "2.1", "2.1", "2.2", "2.2", "2.2"])
    rows = rng.choice([1, 2, 30, 150, 700, 1500, 5000])
    big = rng.random() < .05
    if big:
        rows = rng.choice([20000, 70000])
    arrays, fields = [], []
    for i in range(1 if big else rng.randint(1, 5)):
        meta = {"lance-encoding:" + k: v for k, v in rng.choice(OPTIONS).items()}
        dice = rng.random()
        if dice < .06 and version != "2.0":
            t, value = packed(rng, version)
            meta = {"lance-encoding:packed": "true"}
        elif dice < .12 and version == "2.2":
            t, value = fixed_structs(rng)
            meta = {}
        else:
            t, value = tree(rng, rng.choice([0, 1, 1, 2, 3]) if not big else rng.choice([0, 1]), version, rows > 700)
        fields.append(pa.field("c%d" % i, t, metadata=meta or None))
        arrays.append(pa.array([value(rng) for _ in range(rows)], t))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    options = {}
    if rng.random() < .3:
        options["max_rows_per_file"] = max(rows // rng.randint(1, 3), 1)
    save("random-%d" % seed, [table], version, **options)


def random_tables(seed, count):
    for s in range(int(seed), int(seed) + int(count)):
        random_table(s)


# ---------------------------------------------------------------- case 9

def null_rows():
    """The tables of case 9, and more of the kind: name, type, values."""
    L, S = pa.list_, pa.struct([("a", pa.string()), ("b", pa.int32())])
    x, y = {"a": "x", "b": 1}, {"a": "y", "b": 2}
    xn, yn, nn = {"a": "x", "b": None}, {"a": "y", "b": None}, {"a": None, "b": None}
    utc = dtm.timezone.utc
    stamps = [dtm.datetime(2026, 3, 29, 1, 30, tzinfo=utc), None, dtm.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=utc)]
    us = [None if s is None else (s - dtm.datetime(1970, 1, 1, tzinfo=utc)) // dtm.timedelta(microseconds=1) for s in stamps]
    return [
        ("list", L(pa.int64()), [None, [1, 2, 3], [], None, []]),
        ("list-items", L(pa.int64()), [[1, None, 3], [4, 5, None]]),
        ("list-null-items", L(pa.int64()), [[None, None], [None]]),
        ("list-empty", L(pa.int64()), [[], [], []]),
        ("list-null", L(pa.int64()), [None, None, None]),
        ("list-list", L(L(pa.int64())), [[[1], None, []], None, [], [[None]]]),
        ("list-list-null", L(L(pa.int64())), [None, None]),
        ("list-struct", L(S), [[xn, yn], [], None, [nn]]),
        ("list-struct-null", L(S), [[x, None, y], [None]]),
        ("struct", S, [x, None, nn]),
        ("vector", pa.list_(pa.float32(), 4), [None, None, [1, 2, 3, 4], None, [5, 6, 7, 8]]),
        ("vector-null", pa.list_(pa.float32(), 4), [None] * 10),
        ("vector-items", pa.list_(pa.float32(), 3), [[1, None, 3], [None] * 3, None]),
        ("vector-null-items", pa.list_(pa.float32(), 3), [[None] * 3] * 3),
        ("vector-null-items-and-null", pa.list_(pa.float32(), 3), [[None] * 3, None, [None] * 3]),
        ("vector-null-items-list", L(pa.list_(pa.float32(), 3)), [[[None] * 3], None, [], [[None] * 3, None]]),
        ("vector-null-items-bool", pa.list_(pa.bool_(), 3), [[None] * 3] * 2),
        ("vector-null-vectors", pa.list_(pa.list_(pa.float32(), 2), 3), [[None] * 3]),
        ("vector-vector-nulls", pa.list_(pa.list_(pa.float32(), 2), 3), [[[None, None]] * 3] * 2),
        ("fixed-list-of-structs-of-lists", pa.list_(pa.struct([("a", L(pa.int8()))]), 2),
         [[{"a": [1]}, {"a": None}], None, [None, {"a": [2, 3]}], [{"a": []}, {"a": [4]}]]),
        ("struct-empty", pa.struct([]), [{}] * 7),
        ("null", pa.null(), [None] * 3),
        ("list-of-null", L(pa.null()), [[None], None, []]),
        ("dict", pa.dictionary(pa.int8(), pa.string()), ["a", None, "b", "a"]),
        ("list-dict", L(pa.dictionary(pa.int16(), pa.float64())), [[1.5, None], [2.5], None]),
        ("string-same", pa.string(), ["same"] * 5000),
        ("string-same-null", pa.string(), ["same", None] * 2500),
        ("string-null", pa.string(), [None] * 100),
        ("string-empty", pa.string(), ["", None, ""] * 100),
        ("bool", pa.bool_(), [True, None, False] * 333),
        ("date32", pa.date32(), [0, -1, 2147483647, -2147483648]),
        ("date64", pa.date64(), [0, -86400000, 86400000, None]),
        ("ts", pa.timestamp("us"), us), ("ts-utc", pa.timestamp("us", "UTC"), us), ("ts-berlin", pa.timestamp("us", "Europe/Berlin"), us),
    ]


def nulls():
    for name, t, values in null_rows():
        table = pa.table({"id": pa.array(range(len(values)), pa.int64()), "v": pa.array(values, t)})
        for version in ("2.1", "2.2"):
            save("%s@%s" % (name, version), [table], version)
            save("%s-five@%s" % (name, version), [table] * 5, version)
            ds = save("%s-compacted@%s" % (name, version), [table] * 3, version)
            if ds is not None:
                try:
                    ds.optimize.compact_files()
                except BaseException as e:
                    refused.append("compact %s: %s" % (name, str(e).splitlines()[0][:200]))


# ---------------------------------------------------------------- case 12

def fields():
    s1, s2 = pa.struct([("p", pa.int64()), ("q", pa.string())]), pa.struct([("q", pa.string()), ("p", pa.int64())])
    first = pa.table({"a": pa.array([1, 2]), "b": pa.array(["x", "y"]), "s": pa.array([{"p": 1, "q": "u"}, {"p": 2, "q": "v"}], s1)})
    second = pa.table({"s": pa.array([{"q": "w", "p": 3}], s2), "b": pa.array(["z"]), "a": pa.array([3])})
    save("permuted", [first, second], "2.2", expected=pa.table({
        "a": pa.array([1, 2, 3]), "b": pa.array(["x", "y", "z"]),
        "s": pa.array([{"p": 1, "q": "u"}, {"p": 2, "q": "v"}, {"p": 3, "q": "w"}], s1)}))
    t = pa.table({"a": pa.array([1, 2]), "b": pa.array([10, 20]), "c": pa.array([100, 200])})
    ds = save("readded", [t], "2.2")
    ds.drop_columns(["b"])
    ds.add_columns({"b": "a * 7"})
    ds.add_columns(pa.schema([pa.field("z", pa.string())]))
    ds = lance.write_dataset(pa.table({"a": [3], "c": [300], "b": [21], "z": ["q"]}, schema=ds.schema), ds.uri, mode="append")
    cases.pop()
    case("readded", pa.table({"a": pa.array([1, 2, 3]), "c": pa.array([100, 200, 300]), "b": pa.array([7, 14, 21]), "z": pa.array([None, None, "q"], pa.string())}))
    ds = save("absent", [pa.table({"a": pa.array([1, 2, 3])})], "2.2")
    ds.add_columns(pa.schema([pa.field("x", pa.int64())]))
    ds.drop_columns(["a"])
    cases.pop()
    case("absent", pa.table({"x": pa.array([None] * 3, pa.int64())}))


if __name__ == "__main__":
    os.makedirs(out, exist_ok=True)
    {"random": random_tables, "nulls": nulls, "fields": fields}[sys.argv[2]](*sys.argv[3:])
    json.dump({"pylance": lance.__version__, "refused": refused, "cases": cases}, open(os.path.join(out, "index.json"), "w"))
