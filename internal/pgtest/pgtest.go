// Package pgtest makes catalogues for tests out of .pg texts.
package pgtest

import (
	"github.com/omnideck/omnideck/schema"
)

// Domain is the identity domain of every catalogue made here.
const Domain = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// IR compiles a text and gives its types the first identities. A test of rapid
// will do as well as one of testing.
func IR(t interface {
	Helper()
	Fatal(...any)
}, source string) *schema.IR {
	t.Helper()
	shape, err := schema.Compile([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return shape.Resolve(Domain)
}
