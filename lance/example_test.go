package lance_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// What the README shows, on a table of the embedded graph.
func Example() {
	folder, err := unpackDemo()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	table := filepath.Join(folder, "__manifest")

	ctx := context.Background()
	store, err := opener.Open(ctx, table) // a folder, s3://bucket/table.lance, …
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	snap, err := lance.Open(ctx, store, "", lance.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	rows := int64(0)
	for batch, err := range snap.Scan(ctx, lance.ScanOptions{Columns: []string{"object_id"}}) {
		if err != nil {
			log.Fatal(err)
		}
		rows += batch.NumRows()
		batch.Release()
	}
	fmt.Println(rows, "rows")
	// Output: 61 rows
}

// A new table of the schema of its batches, one more row for it, and what is
// there then.
func Example_write() {
	folder, err := os.MkdirTemp("", "omnideck-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx := context.Background()
	store, err := opener.Open(ctx, folder)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	schema := arrow.NewSchema([]arrow.Field{{Name: "port", Type: arrow.BinaryTypes.String}, {Name: "depth", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"port": "NLRTM", "depth": 24}, {"port": "DEHAM"}]`))
	if err != nil {
		log.Fatal(err)
	}
	defer batch.Release()
	snap, _, err := lance.Create(ctx, store, "ports.lance", lance.CreateOptions{Schema: format.SchemaOf(schema), Rows: lance.RowsOf(batch), UUID: "made-by-an-example"})
	if err != nil {
		log.Fatal(err)
	}
	staged, err := snap.StageAppend(ctx, lance.RowsOf(batch), lance.StageOptions{UUID: "appended-by-an-example"}) // nobody sees it yet
	if err != nil {
		log.Fatal(err)
	}
	if snap, _, err = staged.Commit(ctx, lance.CommitOptions{Retries: 5}); err != nil { // behind what others committed meanwhile
		log.Fatal(err)
	}
	rows, _ := snap.CountRows()
	fmt.Println("version", snap.Version(), "has", rows, "rows")
	// Output: version 2 has 4 rows
}

// unpackDemo writes the embedded graph into a new folder.
func unpackDemo() (string, error) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "omnideck-example-*")
	if err != nil {
		return "", err
	}
	return folder, fixtures.Write(folder, files)
}
