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
}

func newNamer(domain, salt string) *namer {
	return &namer{domain, salt, map[*schema.Type][sha256.Size]byte{}}
}

// id is a ULID: the time is that of the graph's identity domain, the rest is hash.
func (n *namer) id(t *schema.Type, line []byte) string {
	chain, ok := n.chains[t]
	h := sha256.New()
	if !ok {
		for _, s := range []string{n.domain, n.salt, t.Alias()} {
			h.Write(binary.AppendUvarint(nil, uint64(len(s))))
			h.Write([]byte(s))
		}
		h.Sum(chain[:0])
		h.Reset()
	}
	h.Write(chain[:])
	h.Write(line)
	h.Sum(chain[:0])
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
