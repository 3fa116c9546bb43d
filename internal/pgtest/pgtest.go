// Package pgtest makes catalogues for tests out of .pg texts.
package pgtest

import (
	"testing"

	"github.com/omnideck/omnideck/schema"
)

// Domain is the identity domain of every catalogue made here.
const Domain = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// IR compiles a text and gives its types the first identities.
func IR(t testing.TB, source string) *schema.IR {
	t.Helper()
	shape, err := schema.Compile([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return shape.Resolve(Domain)
}
