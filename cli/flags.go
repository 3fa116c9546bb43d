package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/omnideck/omnideck/tui/theme"
)

// kind is the type of a flag's value.
type kind uint8

const (
	kindBool kind = iota
	kindString
	kindStrings
	kindInt
	kindUint
	kindDuration
)

// flagSpec is one flag. The same id means the same thing on every verb; the id
// is the flag's name unless name says otherwise, which is so only where the Rust
// CLI and cli.md use one name for two things.
type flagSpec struct {
	kind  kind
	usage string
	def   int             // default of a kindInt
	try   string          // a value that tests may give; "" for booleans
	name  string          // "" = the id
	first string          // default of a kindString
	words func() []string // values that a shell completes; nil = none
}

// flagTable holds every flag of every verb.
var flagTable = map[string]flagSpec{
	"json":         {kind: kindBool, usage: "print one JSON document"},
	"ndjson":       {kind: kindBool, usage: "print one JSON object a line"},
	"format":       {kind: kindString, usage: "print as table, kv, csv, jsonl or json (default: defaults.output of the operator file, else table)", try: "kv"},
	"rpc":          {kind: kindBool, usage: "also print what was asked of the store: requests, bytes, hops"},
	"no-color":     {kind: kindBool, usage: "print without colours (also NO_COLOR)"},
	"no-cache":     {kind: kindBool, usage: "keep no copies of immutable objects on this machine"},
	"timeout":      {kind: kindDuration, usage: "give up after this time, as in 30s or 2m", try: "1m"},
	"concurrency":  {kind: kindInt, usage: "how many requests may be in flight", def: 64, try: "3"},
	"external":     {kind: kindBool, usage: "also read what a manifest names outside this address: recorded base paths and external blobs"},
	"quiet":        {kind: kindBool, usage: "print no notes on stderr, only errors"},
	"store":        {kind: kindString, usage: "address of the graph, instead of a positional URI", try: "demo:"},
	"profile":      {kind: kindString, usage: "the graph of a profile in the operator file (also OMNIGRAPH_PROFILE)", try: "demo"},
	"uri":          {kind: kindString, usage: "address of the graph, as the Rust CLI spells it here", try: "demo:"},
	"at":           {kind: kindString, usage: "read there: a commit id or a unique part of its beginning or end, a manifest version, a branch", try: "main"},
	"at-version":   {kind: kindUint, usage: "read this version (default the newest)", try: "2", name: "at"},
	"branch":       {kind: kindString, usage: "read this branch (default main)", try: "main"},
	"snapshot":     {kind: kindString, usage: "read at this commit"},
	"limit":        {kind: kindInt, usage: "stop after N; 0 = all", def: 0, try: "2"},
	"offset":       {kind: kindUint, usage: "begin after N", try: "1"},
	"length":       {kind: kindUint, usage: "bytes to print", try: "4"},
	"type":         {kind: kindStrings, usage: "only this type; may be repeated", try: "Port"},
	"table":        {kind: kindStrings, usage: "only this table, as in node:Port; may be repeated or joined by commas", try: "node:Port"},
	"jsonl":        {kind: kindBool, usage: "do what export does anyway; deprecated"},
	"where":        {kind: kindString, usage: "only rows for which this holds, as in 'tonnage > 9'"},
	"sort":         {kind: kindString, usage: "order rows by this column, null last", try: "id"},
	"desc":         {kind: kindBool, usage: "with --sort: greatest first"},
	"columns":      {kind: kindStrings, usage: "only these columns; may be repeated or joined by commas", try: "id"},
	"edge":         {kind: kindString, usage: "follow only edges of this type", try: "CallsAt"},
	"out":          {kind: kindBool, usage: "follow edges from source to destination"},
	"in":           {kind: kindBool, usage: "follow edges from destination to source"},
	"depth":        {kind: kindInt, usage: "edges to follow from the first node", def: 1, try: "2"},
	"graph":        {kind: kindBool, usage: "draw the commit graph of all branches"},
	"deep":         {kind: kindBool, usage: "also read every old manifest and decode every value"},
	"key-column":   {kind: kindString, usage: "with --deep: a column of text whose values are to stand once each (default the primary key, if the schema marks one)", try: "object_id", name: "key"},
	"details":      {kind: kindBool, usage: "also say where each branch began, what it owns and who needs it"},
	"screen":       {kind: kindString, usage: "the screen to begin with, as in commits or node:T/rows", try: "commits", words: rootPlaces},
	"theme":        {kind: kindString, usage: "colours: " + strings.Join(theme.Names(), ", ") + " (also OMNIDECK_THEME for the workstation)", try: "mono", words: theme.Names},
	"ascii":        {kind: kindBool, usage: "draw with ASCII only"},
	"mouse":        {kind: kindBool, usage: "select and scroll with the mouse; shift then selects text"},
	"key-map":      {kind: kindString, usage: "a TOML file with your own keys, as docs/KEYS.md spells it", try: "keys.toml", name: "keys"},
	"size":         {kind: kindString, usage: "width and height in cells, as in 120x40", first: "80x24", try: "100x30"},
	"as":           {kind: kindString, usage: "draw as txt, ansi (with colours) or svg", first: "txt", try: "svg", words: func() []string { return []string{"txt", "ansi", "svg"} }},
	"press":        {kind: kindString, usage: "keys to press one after the other, as in 'j j enter'", try: "j", name: "keys"},
	"now":          {kind: kindString, usage: "count ages to this moment (RFC 3339), and draw the same picture every time", try: "2026-11-29T12:00:00Z"},
	"out-file":     {kind: kindString, usage: "write the bytes to this file instead of stdout", name: "out"},
	"version":      {kind: kindBool, usage: "print the version"},
	"row":          {kind: kindStrings, usage: "row to take, by position; may be repeated or joined by commas", try: "0"},
	"row-id":       {kind: kindStrings, usage: "row to take, by row id; may be repeated or joined by commas", try: "0"},
	"row-address":  {kind: kindStrings, usage: "row to take, by address; may be repeated or joined by commas", try: "0"},
	"fragment":     {kind: kindStrings, usage: "only this fragment; may be repeated or joined by commas", try: "0"},
	"schema-file":  {kind: kindString, usage: "the .pg file that says which types the graph has", try: os.DevNull, name: "schema"},
	"force":        {kind: kindBool, usage: "replace objects of a schema that no graph belongs to"},
	"data":         {kind: kindString, usage: "the file with the lines", try: os.DevNull},
	"mode":         {kind: kindString, usage: "what to do with what is there: overwrite, append or merge", try: "merge", words: func() []string { return loadModes }},
	"branch-to":    {kind: kindString, usage: "write on this branch (default main)", try: "main", name: "branch"},
	"from":         {kind: kindString, usage: "the branch to make --branch from when it is not there; this version makes none", try: "main"},
	"chunk":        {kind: kindBool, usage: "make as many commits as the limits of one ask for"},
	"actor":        {kind: kindString, usage: "who is recorded as the author (default operator.actor of the operator file)", try: "somebody", name: "as"},
	"yes":          {kind: kindBool, usage: "do not ask before what destroys is done to a graph that is not local"},
	"plan":         {kind: kindString, usage: "do what the plan of this id says, which --dry-run showed, or nothing", try: "0123abcd"},
	"dry-run":      {kind: kindBool, usage: "check it and say what it would do; write nothing"},
	"query-file":   {kind: kindString, usage: "the .gq file with the query", try: os.DevNull, name: "query"},
	"query-string": {kind: kindString, usage: "the .gq source itself", try: "query q() { delete Port where code = \"nobody\" }"},
	"params":       {kind: kindString, usage: "the parameters, a JSON object", try: "{}"},
	"params-file":  {kind: kindString, usage: "the file with the parameters", try: os.DevNull},
	"if-commit":    {kind: kindString, usage: "only when the branch is at this commit; else exit code 4", try: "01ABC"},
	"apply":        {kind: kindBool, usage: "do what is shown"},
	"at-once":      {kind: kindBool, usage: "also act on what may be that of a writer at work, without waiting", name: "now"},
	"moved":        {kind: kindBool, usage: "confirm that this graph was moved or copied from the address that a record names"},
	"operation":    {kind: kindStrings, usage: "only this operation, by its id or the key of its record; may be repeated", try: "01ABC"},
	"set-aside":    {kind: kindString, usage: "show how this record is moved out of the way", try: "__recovery/01ABC.json"},
	"why":          {kind: kindString, usage: "with --set-aside: the reason, which is kept beside it", try: "damaged"},
	"with-row-id":  {kind: kindBool, usage: "add the columns _rowid and _rowaddr"},
}

// rootPlaces are the screens whose names depend on no graph.
func rootPlaces() []string {
	return []string{"overview", "branches", "commits", "tables", "versions", "operations"}
}

// commonFlags stand on every verb that opens a store.
var commonFlags = []string{"json", "rpc", "no-color", "no-cache", "timeout", "concurrency", "external", "quiet"}

// scopeFlags say which graph is meant.
var scopeFlags = []string{"store", "profile"}

// nameOf is the name of a flag by its id.
func nameOf(id string) string {
	s, ok := flagTable[id]
	if !ok {
		panic("cli: no such flag in the table: " + id)
	}
	if s.name != "" {
		return s.name
	}
	return id
}

// define adds a flag of the table to a set.
func define(fs *pflag.FlagSet, id string) {
	name, s := nameOf(id), flagTable[id]
	short := map[string]string{"version": "v", "query-string": "e"}[name]
	switch s.kind {
	case kindBool:
		fs.BoolP(name, short, false, s.usage)
	case kindString:
		fs.StringP(name, short, s.first, s.usage)
	case kindStrings:
		fs.StringArray(name, nil, s.usage)
	case kindInt:
		fs.Int(name, s.def, s.usage)
	case kindUint:
		fs.Uint64(name, 0, s.usage)
	case kindDuration:
		fs.Duration(name, 0, s.usage)
		fs.Lookup(name).DefValue = ""
	}
	if s.kind != kindStrings {
		f := fs.Lookup(name)
		f.Value = &once{f.Value, f}
	}
}

// once is a value that is given once: of two, one would be dropped without a word.
type once struct {
	pflag.Value
	flag *pflag.Flag
}

// Set implements pflag.Value.
func (o *once) Set(s string) error {
	if o.flag.Changed {
		return errors.New("it is given already, and counts once")
	}
	return o.Value.Set(s)
}
