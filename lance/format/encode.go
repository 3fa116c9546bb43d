package format

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// The footer's version as Lance writes it.
const footerMajor, footerMinor = 0, 2

// EncodeManifest writes a manifest file. It sets the positions of the sections
// in m; everything else in m must be as it shall be read, unknown fields
// included. No index is no index section. A transaction is demanded: without
// one no writer can rebase over the version. The error says what about m would
// make the file one that cannot be read or written to.
func EncodeManifest(m *tablepb.Manifest, indexes *tablepb.IndexSection, tx *tablepb.Transaction) ([]byte, error) {
	if err := checkEncodable(m, tx); err != nil {
		return nil, fmt.Errorf("writing the manifest of version %d: %w", m.GetVersion(), err)
	}
	var out []byte
	var err error
	m.IndexSection, m.TransactionSection = nil, nil
	if len(indexes.GetIndices()) > 0 {
		m.IndexSection = proto.Uint64(0)
		out, err = appendBlock(out, indexes)
	}
	if err == nil {
		m.TransactionSection = proto.Uint64(uint64(len(out)))
		out, err = appendBlock(out, tx)
	}
	at := len(out)
	if err == nil {
		out, err = appendBlock(out, m)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the manifest of version %d: %w", m.GetVersion(), err)
	}
	out = binary.LittleEndian.AppendUint64(out, uint64(at))
	out = binary.LittleEndian.AppendUint16(out, footerMajor)
	out = binary.LittleEndian.AppendUint16(out, footerMinor)
	return append(out, magic...), nil
}

// EncodeTransaction writes the bare message of a .txn file. Equal messages
// give equal bytes.
func EncodeTransaction(tx *tablepb.Transaction) ([]byte, error) {
	if err := checkTransaction(tx); err != nil {
		return nil, fmt.Errorf("writing a transaction: %w", err)
	}
	b, err := marshal(nil, tx)
	if err != nil {
		return nil, fmt.Errorf("writing the transaction %s: %w", tx.GetUuid(), err)
	}
	return b, nil
}

func marshal(out []byte, m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(out, m)
}

// appendBlock writes a length and a message.
func appendBlock(out []byte, m proto.Message) ([]byte, error) {
	at := len(out)
	out, err := marshal(append(out, 0, 0, 0, 0), m)
	if err != nil {
		return nil, err
	}
	size := len(out) - at - 4
	if int64(size) > math.MaxUint32 {
		return nil, fmt.Errorf("a block of %d bytes does not fit its 32-bit length", size)
	}
	binary.LittleEndian.PutUint32(out[at:], uint32(size))
	return out, nil
}

func checkEncodable(m *tablepb.Manifest, tx *tablepb.Transaction) error {
	switch {
	case m.GetVersion() == 0:
		return Corruptf("versions begin at 1")
	case m.GetTimestamp() == nil:
		return Corruptf("it has no time: a cleanup would take it for infinitely old")
	}
	prev := int64(-1)
	for _, f := range m.GetFragments() {
		if id := f.GetId(); id > math.MaxUint32 || int64(id) <= prev {
			return Corruptf("fragment id %d after %d: they must ascend and fit 32 bits", id, prev)
		}
		prev = int64(f.GetId())
	}
	return checkTransaction(tx)
}

func checkTransaction(tx *tablepb.Transaction) error {
	switch {
	case tx.GetOperation() == nil:
		return Corruptf("there is no transaction with an operation, which readers need to tell what the version did")
	case tx.GetUuid() == "":
		return Corruptf("the transaction has no uuid")
	}
	return nil
}

// UUIDv4 makes 16 random bytes a random UUID: its text is the identity of a
// transaction, an index segment or a branch.
func UUIDv4(random [16]byte) [16]byte {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	return random
}

// TransactionName is the name of a transaction's file in _transactions.
func TransactionName(tx *tablepb.Transaction) string {
	return fmt.Sprintf("%d-%s.txn", tx.GetReadVersion(), tx.GetUuid())
}

// DataFileName is the name of a new data file in data/, from 16 random bytes:
// the first three as binary digits, so that the names spread over the
// partitions of an object store, the others in hex.
func DataFileName(random [16]byte) string {
	u := UUIDv4(random)
	return fmt.Sprintf("%08b%08b%08b%x.lance", u[0], u[1], u[2], u[3:])
}

// DeletionID is the id of a new deletion file, from 8 random bytes. Its name
// follows from it: see DeletionPath.
func DeletionID(random [8]byte) uint64 { return binary.LittleEndian.Uint64(random[:]) }
