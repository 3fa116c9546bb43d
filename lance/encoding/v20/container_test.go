package v20

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/omnideck/omnideck/lance/pb"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	filev2pb "github.com/omnideck/omnideck/lance/pb/filev2"
)

// shared is the archive of cases that pylance 10.0.0 wrote and read back.
const shared = "../../../../shared/lance/fixtures.tar.gz"

// fixtureFiles returns the files of the 2.0 cases by their path in the
// archive. It skips the test where the archive is missing.
func fixtureFiles(t testing.TB) map[string][]byte {
	t.Helper()
	file, err := os.Open(shared)
	if err != nil {
		t.Skipf("SKIPPED: the shared Lance fixtures are missing: %v", err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(header.Name, "@2.0/") {
			continue
		}
		if files[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// container is a data file, read as far as these tests need it.
type container struct {
	data    []byte
	schema  *filepb.FileDescriptor
	columns []*filev2pb.ColumnMetadata
}

func readContainer(t testing.TB, data []byte) container {
	t.Helper()
	if len(data) < 40 || string(data[len(data)-4:]) != "LANC" {
		t.Fatalf("not a data file: %d bytes", len(data))
	}
	foot := data[len(data)-40:]
	u64 := func(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
	part := func(table, i uint64) []byte {
		at, n := u64(data[table+16*i:]), u64(data[table+16*i+8:])
		return data[at : at+n]
	}
	c := container{data: data, schema: &filepb.FileDescriptor{}}
	unmarshal(t, part(u64(foot[16:]), 0), c.schema)
	for i := range uint64(binary.LittleEndian.Uint32(foot[28:])) {
		column := &filev2pb.ColumnMetadata{}
		unmarshal(t, part(u64(foot[8:]), i), column)
		c.columns = append(c.columns, column)
	}
	return c
}

func unmarshal(t testing.TB, data []byte, m proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
}

// pageEncoding unwraps the description of a page.
func pageEncoding(t testing.TB, page *filev2pb.Page) *enc20pb.ArrayEncoding {
	t.Helper()
	wrapper := &anypb.Any{}
	unmarshal(t, page.GetEncoding().GetDirect().GetEncoding(), wrapper)
	if name, err := pb.AnyName(wrapper.GetTypeUrl()); err != nil || name != pb.ArrayEncodingName {
		t.Fatalf("page described by %q: %v", wrapper.GetTypeUrl(), err)
	}
	enc := &enc20pb.ArrayEncoding{}
	unmarshal(t, wrapper.GetValue(), enc)
	return enc
}

// pageBuffers cuts out the buffers of a page.
func (c container) pageBuffers(page *filev2pb.Page) [][]byte {
	var bufs [][]byte
	for i, at := range page.GetBufferOffsets() {
		bufs = append(bufs, bytes.Clone(c.data[at:at+page.GetBufferSizes()[i]]))
	}
	return bufs
}
