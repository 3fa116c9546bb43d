package schema

// described is the harbor schema as its IR tells it, checked by eye against
// harbor.pg.
const described = `
interface:Named 1/0
node:Company 2/40 @index(name) @key(slug) @unique(tax_no)
  id: String utf8
  founded: I32? int32
  listed: Bool bool
  name: String utf8
  slug: String utf8
  tax_no: String? utf8
node:Inspection 3/41 @index(notes)
  id: String utf8
  at: DateTime date64
  notes: String utf8
  photo: Blob? struct<data: large_binary nullable, uri: utf8 nullable>
  score: F64 float64
node:Port 4/42 @index(name) @key(code) @range(depth_m, 0.0..200.0)
  id: String utf8
  code: String utf8
  country: String utf8
  depth_m: F64? float64
  name: String utf8
  opened: Date? date32
  services: [String]? list<item: utf8, nullable>
node:Vessel 5/43 @check(name, "^[A-Z].*") @index(kind) @index(name) @key(imo)
  id: String utf8
  built: Date? date32
  draft_m: F32? float32
  imo: U64 uint64
  kind: enum(bulk, container, ferry, tanker, tug) utf8
  last_seen: DateTime? date64
  name: String utf8
  profile: Vector(8)? fixed_size_list<item: float32, nullable>[8]
  tonnage: I64? int64
edge:CallsAt 6/44  Vessel->Port
  id: String utf8
  src: String utf8
  dst: String utf8
  arrived: DateTime date64
  cargo_t: I64? int64
  tags: [String]? list<item: utf8, nullable>
edge:Checked 7/45 @card(1..1) Inspection->Vessel
  id: String utf8
  src: String utf8
  dst: String utf8
edge:Owns 8/46  Company->Vessel
  id: String utf8
  src: String utf8
  dst: String utf8
  since: Date? date32
edge:Partner 9/47 @unique(dst, src) Company->Company
  id: String utf8
  src: String utf8
  dst: String utf8
  strength: enum(strong, weak) utf8
edge:Registered 10/48 @card(0..1) Vessel->Port
  id: String utf8
  src: String utf8
  dst: String utf8
`
