package blob

import (
	"fmt"
	"regexp"
	"strings"
)

// StoreError is what a store said when it refused a request, or what came in
// the way of its answer, in one short sentence. The words of the library that
// sent the request are kept beside it: Details has them.
type StoreError struct {
	Class   error  // a sentinel of the contract, which errors.Is finds
	Status  int    // HTTP status of the last answer; 0 = there was none
	Code    string // the store's name of the error, as AccessDenied; "" = it gave none
	Message string // the store's sentence, or why there was no answer; may be empty
	Tries   int    // requests that were sent
	Step    string // the next safe step; may be empty
	Facts   []Fact // of the store: endpoint, region, where credentials came from
	Err     error  // as the library said it; nil = nothing more is known
}

// Error is the class, the store's own name and number for it, and its sentence.
func (e *StoreError) Error() string {
	var in []string
	if e.Status != 0 {
		in = append(in, strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, e.Code)))
	}
	if e.Tries > 1 {
		in = append(in, fmt.Sprintf("asked %d times", e.Tries))
	}
	s := e.Class.Error()
	if len(in) > 0 {
		s += " (" + strings.Join(in, ", ") + ")"
	}
	if e.Message != "" && e.Message != e.Code {
		s += ": " + e.Message
	}
	return s
}

// Unwrap makes class and cause findable.
func (e *StoreError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.Err}
}

// query is the part of an address that may hold a signature.
var query = regexp.MustCompile(`\?[^\s"']*`)

// Details is what else is known, in one line: the settings that the store was
// reached by, and the words of the library without what addresses carry behind
// a question mark. "" = nothing.
func (e *StoreError) Details() string {
	var out []string
	for _, f := range e.Facts {
		out = append(out, f.Name+" "+f.Value)
	}
	if e.Err != nil {
		text := strings.Join(strings.Fields(e.Err.Error()), " ")
		out = append(out, query.ReplaceAllString(text, "?…"))
	}
	return strings.Join(out, "; ")
}
