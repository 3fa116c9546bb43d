package lance_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
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
	for key, body := range files {
		file := filepath.Join(folder, filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, body, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}
