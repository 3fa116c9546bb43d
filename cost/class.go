// Package cost says what an operation asked of the store: path classes,
// budgets, and the ledger that keeps one line per operation.
//
// # Path classes
//
// Every request is put into one class by the key it names, here and nowhere
// else (engine-semantics §8.4):
//
//	manifest.open   __manifest/**/_versions/**, hints included
//	manifest.refs   __manifest/**/_refs/**
//	manifest.scan   __manifest/**/{data,_deletions}/**
//	manifest.txn    __manifest/**/_transactions/**
//	data.open, data.refs, data.scan, data.txn   the same below nodes/ and edges/
//	data.index      {nodes,edges}/**/_indices/**
//	recovery        __recovery/**
//	schema          _schema*, __schema_state*, staging files included
//	audit           _graph_commit_recoveries.lance/**
//	control         the init claim and the probes of init, the listing of __manifest/ among them
//	other           anything else; gates assert that it is empty
//
// A branch is a folder below tree/ whose name may itself be "data" or
// "_versions", so the folder nearest to the file decides. A listing is
// classified by its prefix, with or without the '/' at the end.
package cost

import "strings"

// The path classes.
const (
	ManifestOpen = "manifest.open"
	ManifestRefs = "manifest.refs"
	ManifestScan = "manifest.scan"
	ManifestTxn  = "manifest.txn"
	DataOpen     = "data.open"
	DataRefs     = "data.refs"
	DataScan     = "data.scan"
	DataIndex    = "data.index"
	DataTxn      = "data.txn"
	Recovery     = "recovery"
	Schema       = "schema"
	Audit        = "audit"
	Control      = "control"
	Other        = "other"
)

// Classify returns the class of a key relative to a graph's root.
func Classify(key string) string {
	top, rest, _ := strings.Cut(key, "/")
	switch top {
	case "__manifest":
		if key == top+"/" {
			return Control
		}
		switch part(rest) {
		case "open":
			return ManifestOpen
		case "refs":
			return ManifestRefs
		case "scan":
			return ManifestScan
		case "txn":
			return ManifestTxn
		}
		return Other
	case "nodes", "edges":
		_, inside, _ := strings.Cut(rest, "/")
		return ClassifyDataset(inside)
	case "__recovery":
		return Recovery
	case "_graph_commit_recoveries.lance":
		return Audit
	case "__init_claim.json":
		return Control
	}
	switch {
	case strings.HasPrefix(top, "__create_if_absent_probe_"):
		return Control
	case strings.HasPrefix(top, "_schema"), strings.HasPrefix(top, "__schema_state"):
		return Schema
	}
	return Other
}

// ClassifyDataset returns the class of a key relative to the root of one Lance
// dataset; the classes are those of data.
func ClassifyDataset(key string) string {
	switch part(key) {
	case "open":
		return DataOpen
	case "refs":
		return DataRefs
	case "scan":
		return DataScan
	case "index":
		return DataIndex
	case "txn":
		return DataTxn
	}
	return Other
}

// part says what a key inside a dataset belongs to, by the Lance folder
// nearest to its end.
func part(key string) string {
	for {
		i := strings.LastIndexByte(key, '/')
		switch key[i+1:] {
		case "_versions":
			return "open"
		case "_refs":
			return "refs"
		case "data", "_deletions":
			return "scan"
		case "_indices":
			return "index"
		case "_transactions":
			return "txn"
		}
		if i < 0 {
			return ""
		}
		key = key[:i]
	}
}
