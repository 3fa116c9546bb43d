package load_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// lines of n people and n edges between them, as the bulk load of issue 5 has
// them.
func people(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Person","data":{"slug":"p%07d","name":"Person Number %d","age":%d,"score":%d.5,"born":"1980-01-%02d"}}`+"\n", i, i, i%90, i%1000, i%28+1)
	}
	for i := range n {
		fmt.Fprintf(&b, `{"edge":"Knows","from":"p%07d","to":"p%07d","data":{"since":%d}}`+"\n", i, (i*7919)%n, 1990+i%30)
	}
	return b.String()
}

const peopleSchema = `
node Person { slug: String @key name: String age: I32? score: F64? born: Date? @range(age, 0..150) }
edge Knows: Person -> Person { since: I32? }
`

func BenchmarkRead(b *testing.B) {
	ir := pgtest.IR(b, peopleSchema)
	text := people(validate.MaxRows)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := load.Read(strings.NewReader(text), ir, load.Options{Mode: load.Append, NewID: numbered()}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*validate.MaxRows), "ns/line")
}

func BenchmarkPlan(b *testing.B) {
	ir := pgtest.IR(b, peopleSchema)
	text := people(validate.MaxRows)
	src := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := load.MakePlan(src, ir, load.ChunkOptions{Mode: load.Append}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*validate.MaxRows), "ns/line")
}

// What the rules cost beside reading.
func BenchmarkCheck(b *testing.B) {
	ir := pgtest.IR(b, peopleSchema)
	in, err := load.Read(strings.NewReader(people(validate.MaxRows)), ir, load.Options{Mode: load.Append, NewID: numbered()})
	if err != nil {
		b.Fatal(err)
	}
	d, g := load.Delta(in.Batches, load.Append), memgraph.New(ir)
	b.ReportAllocs()
	for b.Loop() {
		report, err := validate.Check(b.Context(), ir, d, g, 1)
		if err != nil || report.Err() != nil {
			b.Fatal(err, report.Err())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*validate.MaxRows), "ns/row")
}
