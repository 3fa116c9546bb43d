package load

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/omnideck/omnideck/schema"
)

// namer makes ids of entities that have none, the same again for the same lines:
// the one of a line hangs on the graph, the salt, the type, and on all lines of
// that type up to it that have no id of their own.
type namer struct {
	domain, salt string
	chains       map[*schema.Type][sha256.Size]byte
	text         []byte
}

func newNamer(domain, salt string) *namer {
	return &namer{domain: domain, salt: salt, chains: map[*schema.Type][sha256.Size]byte{}}
}

// id is a ULID: the time is that of the graph's identity domain, the rest is hash.
func (n *namer) id(t *schema.Type, line []byte) string {
	chain, ok := n.chains[t]
	if !ok {
		n.text = n.text[:0]
		for _, s := range []string{n.domain, n.salt, t.Alias()} {
			n.text = append(binary.AppendUvarint(n.text, uint64(len(s))), s...)
		}
		chain = sha256.Sum256(n.text)
	}
	n.text = append(append(n.text[:0], chain[:]...), line...)
	chain = sha256.Sum256(n.text)
	n.chains[t] = chain
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	id := make([]byte, 26)
	copy(id, "0000000000")
	if len(n.domain) == len(id) {
		copy(id, n.domain[:10])
	}
	for i := 10; i < 26; i++ { // 16 digits of 5 bits from bytes of their own
		id[i] = digits[chain[i]&31]
	}
	return string(id)
}
