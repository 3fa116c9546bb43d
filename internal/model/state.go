package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Schema is that of the graphs of walks.
const Schema = `node Person { code: String @key
  age: I32?
  mail: String? @unique
  @range(age, 0..99) }
node Item { num: I64 @key
  label: String? }
node Note { text: String @unique
  n: I32? }
edge Knows: Person -> Person { tag: String }
edge Owns: Person -> Item @card(0..2) { tag: String
  @unique(src, dst) }
`

// kind is a type of Schema.
type kind struct {
	key    string // property that is the id; "" = ids are drawn, and tag names a row
	tag    string
	props  []string
	unique string
	ranged string // 0..99
	from   string // of an edge
	to     string
	most   int // edges of one source; 0 = any number
	once   bool
}

var kinds = map[string]kind{
	"Person": {key: "code", props: []string{"code", "age", "mail"}, unique: "mail", ranged: "age"},
	"Item":   {key: "num", props: []string{"num", "label"}},
	"Note":   {tag: "text", props: []string{"text", "n"}, unique: "text"},
	"Knows":  {tag: "tag", props: []string{"tag"}, from: "Person", to: "Person"},
	"Owns":   {tag: "tag", props: []string{"tag"}, from: "Person", to: "Item", most: 2, once: true},
}

// Row is one entity. Values are JSON; a property without one is null.
type Row struct {
	Type, From, To string
	ID             string // "~" and the tag, where it was drawn
	Data           map[string]string
}

// State is the rows of a graph by type and id. It is never changed.
type State map[string]map[string]Row

// minted is an id that was drawn.
var minted = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)

// name gives a row its id.
func (r *Row) name() {
	k := kinds[r.Type]
	switch {
	case k.key != "":
		r.ID = plain(r.Data[k.key])
	case r.ID == "" || minted.MatchString(r.ID):
		r.ID = "~" + plain(r.Data[k.tag])
	}
}

// plain is a JSON value without quotes.
func plain(js string) string {
	if s, err := strconv.Unquote(js); err == nil {
		return s
	}
	return js
}

// Line is the row as a line of a load.
func (r Row) Line() string {
	data := map[string]json.RawMessage{}
	for p, v := range r.Data {
		data[p] = json.RawMessage(v)
	}
	k := kinds[r.Type]
	if k.key == "" && !strings.HasPrefix(r.ID, "~") {
		data["id"] = json.RawMessage(strconv.Quote(r.ID))
	}
	l := map[string]any{"data": data}
	if k.from == "" {
		l["type"] = r.Type
	} else {
		l["edge"], l["from"], l["to"] = r.Type, r.From, r.To
	}
	out, err := json.Marshal(l)
	if err != nil {
		panic(err) // values are JSON
	}
	return string(out)
}

// ParseExport reads what an export wrote.
func ParseExport(text string) (State, error) {
	out := State{}
	for line := range strings.Lines(text) {
		var l struct {
			Type, Edge, From, To string
			Data                 map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return nil, fmt.Errorf("line %q of an export: %w", line, err)
		}
		r := Row{Type: l.Type + l.Edge, From: l.From, To: l.To, ID: plain(string(l.Data["id"])), Data: map[string]string{}}
		for p, v := range l.Data {
			if p != "id" && string(v) != "null" {
				r.Data[p] = string(v)
			}
		}
		r.name()
		if _, twice := out[r.Type][r.ID]; twice {
			return nil, fmt.Errorf("%s %s is there twice", r.Type, r.ID)
		}
		out.put(r)
	}
	return out, nil
}

// put is for a state that nobody else has yet.
func (s State) put(r Row) {
	if s[r.Type] == nil {
		s[r.Type] = map[string]Row{}
	}
	s[r.Type][r.ID] = r
}

// add is put, but for a row whose id is drawn: it takes nobody's place.
func (s State) add(r Row) {
	for strings.HasPrefix(r.ID, "~") && s[r.Type][r.ID].ID != "" {
		r.ID += "'"
	}
	s.put(r)
}

// clone is a state that may be changed.
func (s State) clone() State {
	out := State{}
	for t, rows := range s {
		out[t] = maps.Clone(rows)
	}
	return out
}

// Text is the rows, a line each, in one order.
func (s State) Text() string {
	var out []string
	for _, t := range slices.Sorted(maps.Keys(s)) {
		for _, id := range slices.Sorted(maps.Keys(s[t])) {
			r := s[t][id]
			data, err := json.Marshal(r.Data)
			if err != nil {
				panic(err) // texts by texts
			}
			out = append(out, fmt.Sprintf("%s %s %s %s %s", t, id, r.From, r.To, data))
		}
	}
	return strings.Join(out, "\n")
}

// Differ is what two states do not share, "" = nothing.
func Differ(got, want State) string {
	a, b := got.Text(), want.Text()
	if a == b {
		return ""
	}
	return "is there and should not:" + missing(a, b) + "\nshould be there and is not:" + missing(b, a)
}

func missing(text, other string) (out string) {
	there := map[string]bool{}
	for line := range strings.SplitSeq(other, "\n") {
		there[line] = true
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !there[line] {
			out += "\n  " + line
		}
	}
	return out
}

// broken is whether a rule of Schema does not hold.
func (s State) broken() bool {
	for t, rows := range s {
		k := kinds[t]
		seen, of := map[string]bool{}, map[string]int{}
		for _, r := range rows {
			if k.brokenBy(r, s) {
				return true
			}
			if v := r.Data[k.unique]; v != "" {
				if seen[v] {
					return true
				}
				seen[v] = true
			}
			if of[r.From]++; k.most > 0 && of[r.From] > k.most {
				return true
			}
			if pair := r.From + "\x00" + r.To; k.once {
				if seen[pair] {
					return true
				}
				seen[pair] = true
			}
		}
	}
	return false
}

// brokenBy asks what can be asked of a row alone.
func (k kind) brokenBy(r Row, s State) bool {
	if !k.inRange(r) {
		return true
	}
	if k.from == "" {
		return false
	}
	_, from := s[k.from][r.From]
	_, to := s[k.to][r.To]
	return !from || !to
}

func (k kind) inRange(r Row) bool {
	v := r.Data[k.ranged]
	n, err := strconv.Atoi(v)
	return v == "" || err == nil && n >= 0 && n <= 99
}
