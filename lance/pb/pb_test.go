package pb_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/omnideck/omnideck/lance/pb"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// golden is a manifest file that pylance 10.0.0 wrote; see testdata/README.
func golden(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/v1.manifest")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// manifestBlock cuts the Manifest message out of a manifest file.
func manifestBlock(t testing.TB, data []byte) []byte {
	t.Helper()
	if len(data) < 20 || string(data[len(data)-4:]) != "LANC" {
		t.Fatalf("not a manifest file: %d bytes", len(data))
	}
	at := binary.LittleEndian.Uint64(data[len(data)-16:])
	n := uint64(binary.LittleEndian.Uint32(data[at:]))
	return data[at+4 : at+4+n]
}

func TestManifestFields(t *testing.T) {
	m := &tablepb.Manifest{}
	if err := proto.Unmarshal(manifestBlock(t, golden(t)), m); err != nil {
		t.Fatal(err)
	}
	if m.IndexSection != nil {
		t.Errorf("index_section present (%d), want absent", *m.IndexSection)
	}
	if m.TransactionSection == nil || *m.TransactionSection != 0 {
		t.Errorf("transaction_section = %v, want present and 0", m.TransactionSection)
	}
	if m.MaxFragmentId == nil || *m.MaxFragmentId != 0 {
		t.Errorf("max_fragment_id = %v, want present and 0", m.MaxFragmentId)
	}
	if m.Branch != nil {
		t.Errorf("branch = %q, want absent", *m.Branch)
	}
	if len(m.Fields) == 0 || m.Fields[0].ParentId != -1 {
		t.Errorf("first field %v, want parent_id -1", m.Fields)
	}
	if m.Version != 1 || m.DataFormat.GetVersion() != "2.2" || m.WriterVersion.GetLibrary() != "lance" {
		t.Errorf("version %d, format %v, writer %v", m.Version, m.DataFormat, m.WriterVersion)
	}
	if n := unknown(m.ProtoReflect()); n != 0 {
		t.Errorf("%d bytes of the manifest are unknown to our descriptions", n)
	}
}

// Fields that are not in our descriptions must survive decode and encode at
// every level, else a message that is carried forward loses what a newer
// program put there.
func TestUnknownFieldsSurvive(t *testing.T) {
	block := manifestBlock(t, golden(t))
	m := &tablepb.Manifest{}
	if err := proto.Unmarshal(block, m); err != nil {
		t.Fatal(err)
	}
	extra := protowire.AppendTag(nil, 1999, protowire.BytesType)
	extra = protowire.AppendString(extra, "from the future")
	for _, at := range []proto.Message{m, m.Fields[0], m.Fragments[0], m.Fragments[0].Files[0], m.DataFormat} {
		at.ProtoReflect().SetUnknown(extra)
	}
	const places = 5
	widened, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	again := &tablepb.Manifest{}
	if err := proto.Unmarshal(widened, again); err != nil {
		t.Fatal(err)
	}
	if got, want := unknown(again.ProtoReflect()), places*len(extra); got != want {
		t.Fatalf("%d unknown bytes after decode, want %d", got, want)
	}
	out, err := proto.Marshal(again)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(out), "from the future"); got != places {
		t.Errorf("%d unknown fields after encode, want %d", got, places)
	}
}

// Every manifest and every transaction of the shared fixtures and graphs is
// known to the last byte, and comes back equal.
func TestSharedManifests(t *testing.T) {
	archives := []string{"lance/fixtures.tar.gz", "lance/index-fixtures.tar.gz", "graphs/midlife.tar.gz",
		"graphs/maintained.tar.gz", "graphs/diverged.tar.gz", "graphs/wide.tar.gz"}
	for _, name := range archives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := 0
			eachFile(t, filepath.Join("..", "..", "..", "shared", name), func(path string, data []byte) {
				switch filepath.Ext(path) {
				case ".manifest":
					files++
					checkKnown(t, path, manifestBlock(t, data), &tablepb.Manifest{})
					checkSections(t, path, data)
				case ".txn":
					files++
					checkKnown(t, path, data, &tablepb.Transaction{})
				}
			})
			if files == 0 {
				t.Fatal("no manifest found")
			}
			t.Logf("%d files", files)
		})
	}
}

// eachFile calls f with every file of a tar.gz archive.
func eachFile(t *testing.T, archive string, f func(path string, data []byte)) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Skipf("SKIPPED: the shared archive is missing: %v", err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		f(header.Name, data)
	}
}

func checkSections(t *testing.T, path string, data []byte) {
	t.Helper()
	m := &tablepb.Manifest{}
	if err := proto.Unmarshal(manifestBlock(t, data), m); err != nil {
		t.Fatal(err)
	}
	block := func(at uint64) []byte {
		n := uint64(binary.LittleEndian.Uint32(data[at:]))
		return data[at+4 : at+4+n]
	}
	if m.IndexSection != nil {
		checkKnown(t, path+" index section", block(*m.IndexSection), &tablepb.IndexSection{})
	}
	if m.TransactionSection != nil {
		checkKnown(t, path+" transaction section", block(*m.TransactionSection), &tablepb.Transaction{})
	}
	for _, f := range m.Fragments {
		checkKnown(t, path+" row ids", f.GetInlineRowIds(), &tablepb.RowIdSequence{})
		checkKnown(t, path+" created", f.GetInlineCreatedAtVersions(), &tablepb.RowDatasetVersionSequence{})
		checkKnown(t, path+" updated", f.GetInlineLastUpdatedAtVersions(), &tablepb.RowDatasetVersionSequence{})
	}
}

func checkKnown(t *testing.T, what string, data []byte, m proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(data, m); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if n := unknown(m.ProtoReflect()); n != 0 {
		t.Errorf("%s: %d unknown bytes", what, n)
	}
	out, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	// Not by bytes: an empty map value is left out by one writer only.
	again := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(out, again); err != nil || !proto.Equal(m, again) {
		t.Errorf("%s: came back different: %v", what, err)
	}
}

// unknown counts the bytes of unknown fields in m and below.
func unknown(m protoreflect.Message) int {
	n := len(m.GetUnknown())
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			if fd.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					n += unknown(v.Message())
					return true
				})
			}
		case fd.Message() == nil:
		case fd.IsList():
			for i := range v.List().Len() {
				n += unknown(v.List().Get(i).Message())
			}
		default:
			n += unknown(v.Message())
		}
		return true
	})
	return n
}

func TestAnyName(t *testing.T) {
	for url, want := range map[string]string{
		"/lance.encodings21.PageLayout":                     pb.PageLayoutName,
		"type.googleapis.com/lance.encodings.ArrayEncoding": pb.ArrayEncodingName,
		"a/b/lance.encodings.ColumnEncoding":                pb.ColumnEncodingName,
		"/":                                                 "",
	} {
		if got, err := pb.AnyName(url); err != nil || got != want {
			t.Errorf("AnyName(%q) = %q, %v, want %q", url, got, err, want)
		}
	}
	if got, err := pb.AnyName("lance.encodings21.PageLayout"); err == nil {
		t.Errorf("AnyName without slash = %q, want an error", got)
	}
}
