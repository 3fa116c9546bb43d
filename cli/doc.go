// Package cli is the command line: verbs that scripts call, and the door to
// the terminal workstation. One file a verb.
//
// # The rules of every verb
//
// Data goes to stdout, talk to stderr. --json prints one document; on verbs
// that stream, --ndjson prints one object a line. --rpc adds what was asked
// of the store: a member "rpc" of the document, a last line {"rpc":…} of a
// stream, a line on stderr otherwise. Verbs that the Rust CLI has print the
// same JSON and the same text, byte for byte; ours add "uri" first.
//
// A flag that a verb cannot use is an error: each verb names its flags in one
// table (flags.go), and a test fails on a flag that nobody reads.
//
// # Exit codes
//
//	0    done
//	1    error
//	2    usage
//	3    verify found something wrong
//	4    the head moved
//	5    conflicts
//	6    refused: read-only; recover: a record stays, because nobody may act on it,
//	     or what it needs was not given
//	130  interrupted
//
// An error is one sentence on stderr: what was being done, on which object,
// what was found and expected, and the next safe step.
package cli
