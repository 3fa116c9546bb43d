package format_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// indexSection is the section of a manifest as a message.
func indexSection(t testing.TB, m *format.Manifest) *tablepb.IndexSection {
	t.Helper()
	indexes, err := m.Indexes()
	if err != nil {
		t.Fatal(err)
	}
	out := &tablepb.IndexSection{}
	for _, x := range indexes {
		out.Indices = append(out.Indices, x.Proto)
	}
	return out
}

// TestEncodeRealManifests writes every manifest of other programs anew. The
// length is the same to the byte, so no presence was lost; of what maps leave
// no choice in the order, the bytes are too.
func TestEncodeRealManifests(t *testing.T) {
	seen, same := 0, 0
	manifests(t, func(key string, files map[string][]byte) {
		m, err := format.ParseManifest(files[key])
		if err != nil {
			t.Fatal(err)
		}
		tx, err := m.Transaction()
		if err != nil {
			t.Fatal(err)
		}
		want := proto.CloneOf(m.Proto)
		b, err := format.EncodeManifest(m.Proto, indexSection(t, m), tx.Proto)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			return
		}
		seen++
		if bytes.Equal(b, files[key]) {
			same++
		}
		again, err := format.ParseManifest(b)
		if err != nil || len(b) != len(files[key])+2*emptyValues(want.Fields, tx.Proto.GetOverwrite().GetSchema()) || !proto.Equal(again.Proto, want) || !proto.Equal(indexSection(t, again), indexSection(t, m)) {
			t.Errorf("%s: %d bytes, were %d; equal %v, %v", key, len(b), len(files[key]), err == nil && proto.Equal(again.Proto, want), err)
			return
		}
		if tx2, err := again.Transaction(); err != nil || !proto.Equal(tx2.Proto, tx.Proto) || format.TransactionName(tx.Proto) != m.TransactionFile {
			t.Errorf("%s: another transaction, %v; its file would be %s, is %s", key, err, format.TransactionName(tx.Proto), m.TransactionFile)
		}
	})
	t.Logf("%d manifests, %d to the byte", seen, same)
	if seen == 0 || same*2 < seen {
		t.Errorf("%d of %d manifests are written to the byte", same, seen)
	}
}

// emptyValues counts the entries of metadata without a value: Lance leaves the
// value out of the message, Go's library writes it with a length of zero.
func emptyValues(schemas ...[]*filepb.Field) int {
	n := 0
	for _, fields := range schemas {
		for _, f := range fields {
			for _, v := range f.Metadata {
				if len(v) == 0 {
					n++
				}
			}
		}
	}
	return n
}

// TestUnknownFieldsAreKept: what a newer program added comes through.
func TestUnknownFieldsAreKept(t *testing.T) {
	var m *format.Manifest
	manifests(t, func(key string, files map[string][]byte) {
		if x, err := format.ParseManifest(files[key]); err == nil && len(indexSection(t, x).Indices) > 0 && len(x.Fragments) > 0 {
			m = x
		}
	})
	if _, ok := fixtures.SharedDir(); m == nil && !ok {
		t.Skip("SKIPPED: no folder `shared` beside the checkout: no manifest there is has an index")
	}
	if m == nil {
		t.Fatal("no manifest has an index")
	}
	tx, err := m.Transaction()
	if err != nil {
		t.Fatal(err)
	}
	strange := protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 7)
	m.Proto.ProtoReflect().SetUnknown(strange)
	m.Proto.Fragments[0].ProtoReflect().SetUnknown(strange)
	indexes := indexSection(t, m)
	indexes.Indices[0].ProtoReflect().SetUnknown(strange)
	b, err := format.EncodeManifest(m.Proto, indexes, tx.Proto)
	if err != nil {
		t.Fatal(err)
	}
	again, err := format.ParseManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string][]byte{
		"manifest": again.Proto.ProtoReflect().GetUnknown(), "fragment": again.Proto.Fragments[0].ProtoReflect().GetUnknown(),
		"index": indexSection(t, again).Indices[0].ProtoReflect().GetUnknown(),
	} {
		if !bytes.Equal(got, strange) {
			t.Errorf("%s: %x, want %x", what, got, strange)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	fresh := func() (*tablepb.Manifest, *tablepb.Transaction) {
		m, err := format.ParseManifest(one(t))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := m.Transaction()
		if err != nil {
			t.Fatal(err)
		}
		return m.Proto, tx.Proto
	}
	for what, spoil := range map[string]func(*tablepb.Manifest, *tablepb.Transaction) *tablepb.Transaction{
		"no transaction": func(*tablepb.Manifest, *tablepb.Transaction) *tablepb.Transaction { return nil },
		"no operation": func(_ *tablepb.Manifest, tx *tablepb.Transaction) *tablepb.Transaction {
			tx.Operation = nil
			return tx
		},
		"no uuid":   func(_ *tablepb.Manifest, tx *tablepb.Transaction) *tablepb.Transaction { tx.Uuid = ""; return tx },
		"version 0": func(m *tablepb.Manifest, tx *tablepb.Transaction) *tablepb.Transaction { m.Version = 0; return tx },
		"no time":   func(m *tablepb.Manifest, tx *tablepb.Transaction) *tablepb.Transaction { m.Timestamp = nil; return tx },
		"fragment twice": func(m *tablepb.Manifest, tx *tablepb.Transaction) *tablepb.Transaction {
			m.Fragments = append(m.Fragments, m.Fragments[0])
			return tx
		},
		"fragment id of 33 bits": func(m *tablepb.Manifest, tx *tablepb.Transaction) *tablepb.Transaction {
			m.Fragments[len(m.Fragments)-1].Id = 1 << 32
			return tx
		},
	} {
		m, tx := fresh()
		if _, err := format.EncodeManifest(m, nil, spoil(m, tx)); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := format.EncodeTransaction(&tablepb.Transaction{Uuid: "u"}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("a transaction without operation: %v", err)
	}
}

func TestWriterFlags(t *testing.T) {
	if err := format.Flags(63).CheckWritable(); err != nil {
		t.Error(err)
	}
	var fe *format.FlagError
	if err := format.Flags(2 | 64).CheckWritable(); !errors.As(err, &fe) || !fe.Writing || fe.Bit != 6 || !strings.Contains(err.Error(), "writer feature bit 6") {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	var random [16]byte
	if b, err := hex.DecodeString("856ea5977add0c9fbb2ba5e8d1742583"); err != nil || copy(random[:], b) != 16 {
		t.Fatal(err)
	}
	if got := format.DataFileName(random); got != "100001010110111010100101977add4c9fbb2ba5e8d1742583.lance" {
		t.Error(got)
	}
	v4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, fill := range []byte{0, 0xff, 0x5a} {
		for i := range random {
			random[i] = fill
		}
		if got := format.UUIDText(format.UUIDv4(random)); !v4.MatchString(got) {
			t.Error(got)
		}
	}
	tx := &tablepb.Transaction{ReadVersion: 7, Uuid: "u"}
	if got := format.TransactionName(tx); got != "7-u.txn" {
		t.Error(got)
	}
	if format.DeletionID([8]byte{1, 2}) != 513 {
		t.Error("the id of a deletion file is not little-endian")
	}
}
