package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/tui/part"
)

func lanceInfoVerb() *verb {
	return &verb{
		name: "lance info", place: onDataset, flags: []string{"branch", "at-version"},
		short:   "What a dataset or a data file is: version, schema, size, indexes",
		example: "lance info demo:__manifest\nlance info ./table.lance --at 3 --json",
		run:     onLance(lanceInfo),
	}
}

func lanceInfo(ctx context.Context, c *call, d *dataset) error {
	if d.key != "" {
		return lanceFileInfo(ctx, c, d)
	}
	s, err := d.snapshot(ctx)
	if err != nil {
		return err
	}
	i, err := describe(ctx, s)
	if err != nil {
		return err
	}
	return c.own(i, func(t *out.Text) { printDataset(t, c.uri, i) })
}

// datasetInfo is the document of lance info.
type datasetInfo struct {
	Kind         string            `json:"kind"` // lance or lance-file
	Branch       string            `json:"branch,omitempty"`
	Version      uint64            `json:"version,omitempty"`
	CreatedAt    time.Time         `json:"created_at,omitzero"`
	Operation    string            `json:"operation,omitempty"`
	Transaction  string            `json:"transaction,omitempty"`
	Writer       string            `json:"writer,omitempty"`
	Format       string            `json:"file_version"`
	Rows         *uint64           `json:"rows"` // null when the manifest does not record it
	Fragments    int               `json:"fragments"`
	Files        int               `json:"files"`
	Bytes        uint64            `json:"bytes"` // of the data files, as recorded
	ReaderFlags  string            `json:"reader_flags,omitempty"`
	WriterFlags  string            `json:"writer_flags,omitempty"`
	Schema       []fieldInfo       `json:"schema"`
	Indexes      []indexInfo       `json:"indexes"`
	Config       map[string]string `json:"config,omitempty"`
	Metadata     map[string]string `json:"table_metadata,omitempty"`
	BasePaths    []basePathInfo    `json:"base_paths,omitempty"`
	Manifest     string            `json:"manifest,omitempty"` // key
	ManifestSize int64             `json:"manifest_bytes,omitempty"`
}

type fieldInfo struct {
	ID       int32             `json:"id"`
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Nullable bool              `json:"nullable"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Children []fieldInfo       `json:"children,omitempty"`
}

type indexInfo struct {
	Name    string   `json:"name"`
	UUID    string   `json:"uuid"`
	Kind    string   `json:"kind"`
	Fields  []string `json:"fields"`
	Version uint64   `json:"dataset_version"`
}

type basePathInfo struct {
	ID   uint32 `json:"id"`
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
}

func describe(ctx context.Context, s *lance.Snapshot) (*datasetInfo, error) {
	m := s.Manifest()
	i := &datasetInfo{
		Kind: "lance", Branch: mainOr(s.Branch()), Version: s.Version(), CreatedAt: m.Timestamp, Format: m.FileVersion,
		Writer: strings.TrimSpace(m.Writer.Library + " " + m.Writer.Version), Fragments: len(m.Fragments),
		ReaderFlags: m.ReaderFlags.String(), WriterFlags: m.WriterFlags.String(), Schema: fieldsInfo(m.Schema.Fields),
		Config: m.Config, Metadata: m.TableMetadata, Manifest: s.Object().Key, ManifestSize: s.Object().Size, Indexes: []indexInfo{},
	}
	if rows, known := s.CountRows(); known {
		i.Rows = &rows
	}
	for _, f := range m.Fragments {
		i.Files += len(f.Files)
		for _, file := range f.Files {
			i.Bytes += file.Size
		}
	}
	for _, b := range m.BasePaths {
		i.BasePaths = append(i.BasePaths, basePathInfo{b.ID, b.Name, b.Path})
	}
	tx, err := s.Transaction(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the transaction of version %d: %w", s.Version(), err)
	}
	if tx != nil {
		i.Operation, i.Transaction = tx.Operation.Name, tx.UUID
	}
	indexes, err := s.Indexes()
	if err != nil {
		return nil, fmt.Errorf("read the index list of version %d: %w", s.Version(), err)
	}
	for _, x := range indexes {
		i.Indexes = append(i.Indexes, indexInfo{x.Name, x.UUID, indexKind(x.DetailsURL), fieldNames(m.Schema, x.Fields), x.DatasetVersion})
	}
	return i, nil
}

// indexKind is the last word of the type of an index's details:
// …/lance.table.BTreeIndexDetails is BTree.
func indexKind(url string) string {
	kind := url[strings.LastIndexAny(url, "./")+1:]
	if kind = strings.TrimSuffix(kind, "IndexDetails"); kind == "" {
		return "unknown"
	}
	return kind
}

func fieldsInfo(fields []*format.Field) []fieldInfo {
	infos := make([]fieldInfo, 0, len(fields))
	for _, f := range fields {
		infos = append(infos, fieldInfo{f.ID, f.Name, f.LogicalType, f.Nullable, f.Metadata, fieldsInfo(f.Children)})
	}
	return infos
}

func printDataset(t *out.Text, uri string, i *datasetInfo) {
	version := ""
	if i.Version > 0 {
		version = fmt.Sprintf("%d on %s", i.Version, i.Branch)
	}
	t.Pairs([2]string{"dataset", uri}, [2]string{"version", version}, [2]string{"written", moment(i.CreatedAt)}, [2]string{"operation", i.Operation},
		[2]string{"transaction", i.Transaction}, [2]string{"writer", i.Writer}, [2]string{"format", i.Format}, [2]string{"rows", recordedRows(i.Rows)},
		[2]string{"fragments", fmt.Sprintf("%d, %s, %s", i.Fragments, part.Plural(i.Files, "data file", "data files"), part.Bytes(i.Bytes))},
		[2]string{"reader flags", i.ReaderFlags}, [2]string{"writer flags", i.WriterFlags}, [2]string{"manifest", i.Manifest})
	printFields(t, i.Schema, "  ")
	for _, x := range i.Indexes {
		t.Line("index %s  %s on %s  built from version %d", x.Name, x.Kind, strings.Join(x.Fields, ", "), x.Version)
	}
	for _, b := range i.BasePaths {
		t.Line("base path %d  %s  %s", b.ID, b.Path, b.Name)
	}
}

// recordedRows is a count by the manifest: no data file was asked.
func recordedRows(n *uint64) string {
	if n == nil {
		return "not recorded"
	}
	return decimal(*n) + " recorded"
}

func printFields(t *out.Text, fields []fieldInfo, indent string) {
	for _, f := range fields {
		null := ""
		if f.Nullable {
			null = "?"
		}
		t.Line("%s%d %s: %s%s", indent, f.ID, f.Name, f.Type, null)
		printFields(t, f.Children, indent+"  ")
	}
}

// lanceFileInfo describes one data file by what it says itself.
func lanceFileInfo(ctx context.Context, c *call, d *dataset) error {
	r, err := d.reader(ctx, d.key, d.size)
	if err != nil {
		return err
	}
	schema, err := r.FileSchema()
	if err != nil {
		return fmt.Errorf("read the schema of %s: %w", d.key, err)
	}
	major, minor := r.Version()
	rows := uint64(r.NumRows())
	i := &datasetInfo{Kind: "lance-file", Format: fmt.Sprintf("%d.%d", major, minor), Rows: &rows, Files: 1, Bytes: uint64(d.size),
		Schema: fieldsInfo(schema.Fields), Indexes: []indexInfo{}}
	return c.own(i, func(t *out.Text) {
		t.Pairs([2]string{"data file", c.uri}, [2]string{"format", i.Format}, [2]string{"rows", optional(i.Rows)}, [2]string{"size", part.Bytes(i.Bytes)})
		printFields(t, i.Schema, "  ")
	})
}
