package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// loadSchema is that of the graph which is loaded: a type of nodes with a key,
// and a type of edges without.
const loadSchema = `node Item {
  code: String @key
  name: String
  kind: String
  count: I64
  score: F64
  day: Date?
}

edge Near: Item -> Item {
  weight: F64
}
`

// perLoad is how many entities of a type one load may bring.
const perLoad = 8192

// input are the files of a load: all lines in one, and the same in parts, nodes
// before edges.
type input struct {
	schema, all string
	parts       []string
}

// generate writes n nodes and n edges, once, whose texts, numbers and ends are
// drawn, the same for every folder.
func generate(dir string, n int) (*input, error) {
	in := &input{schema: filepath.Join(dir, "schema.pg"), all: filepath.Join(dir, "all.jsonl")}
	for i := range 2 * ((n + perLoad - 1) / perLoad) {
		in.parts = append(in.parts, filepath.Join(dir, fmt.Sprintf("part-%04d.jsonl", i)))
	}
	if _, err := os.Stat(in.all); err == nil {
		return in, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(in.schema, []byte(loadSchema), 0o644); err != nil {
		return nil, err
	}
	whole, err := os.Create(in.all + ".part")
	if err != nil {
		return nil, err
	}
	defer whole.Close()
	g := &generator{rnd: rand.New(rand.NewPCG(42, 42)), n: n}
	for i, name := range in.parts {
		edges := i >= len(in.parts)/2
		from := i % (len(in.parts) / 2) * perLoad
		g.part = g.part[:0]
		for k := from; k < min(from+perLoad, n); k++ {
			if edges {
				g.edge()
			} else {
				g.node(k)
			}
		}
		if err := os.WriteFile(name, g.part, 0o644); err != nil {
			return nil, err
		}
		if _, err := whole.Write(g.part); err != nil {
			return nil, err
		}
	}
	return in, os.Rename(whole.Name(), in.all)
}

// generator makes lines.
type generator struct {
	rnd  *rand.Rand
	n    int
	part []byte
}

// code is the key of a node: such as people give, in no order of their making.
func code(i int) string { return fmt.Sprintf("%07x-%d", uint32(i)*2654435761>>4, i) }

var words = []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbour", "island", "juniper", "kelp", "lagoon", "meadow", "north", "orchard", "pebble"}

func (g *generator) node(i int) {
	w := func() string { return words[g.rnd.IntN(len(words))] }
	day := "null"
	if g.rnd.IntN(10) > 0 {
		day = fmt.Sprintf(`"20%02d-%02d-%02d"`, g.rnd.IntN(25), 1+g.rnd.IntN(12), 1+g.rnd.IntN(28))
	}
	g.part = fmt.Appendf(g.part, `{"type":"Item","data":{"code":"%s","name":"%s %s %s %d","kind":"kind %02d","count":%d,"score":%s,"day":%s}}`+"\n",
		code(i), w(), w(), w(), g.rnd.IntN(100000), g.rnd.IntN(50), g.rnd.IntN(1<<20), strconv.FormatFloat(g.rnd.Float64()*100, 'f', 3, 64), day)
}

func (g *generator) edge() {
	g.part = fmt.Appendf(g.part, `{"edge":"Near","from":"%s","to":"%s","data":{"weight":%s}}`+"\n",
		code(g.rnd.IntN(g.n)), code(g.rnd.IntN(g.n)), strconv.FormatFloat(g.rnd.Float64(), 'f', 4, 64))
}
