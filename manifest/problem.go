package manifest

import "fmt"

// Rule names a rule of the fold.
type Rule string

// The rules.
const (
	RuleKind         Rule = "kind"             // object_type is not what the object_id says
	RuleColumns      Rule = "columns"          // a column is missing or has another type
	RuleIdentity     Rule = "identity"         // ids missing, zero, or present on a lineage row
	RuleObjectID     Rule = "object-id"        // object_id is not what the columns say
	RuleLocation     Rule = "location"         // folder is not the canonical one
	RuleVersion      Rule = "version"          // table_version or row_count missing
	RuleMetadata     Rule = "metadata"         // metadata missing or unreadable
	RuleRegistration Rule = "registration"     // no table row, or two that differ
	RuleTombstone    Rule = "tombstone"        // tombstone without registration, or of another alias
	RuleAlias        Rule = "alias"            // two live tables with one alias
	RuleUnique       Rule = "unique-object-id" // two live rows with one object_id
	RuleHead         Rule = "head"             // graph_head names no commit
	RuleLineage      Rule = "lineage"          // parent missing, version beyond the manifest, duplicate
	RuleFragment     Rule = "fragment"         // rows that could not be read
	RuleDeletion     Rule = "deletion"         // deletion file unreadable or at odds with the counts
)

// RowRef says which row of `__manifest` is meant.
type RowRef struct {
	ObjectID string
	Kind     string // object_type
	Fragment uint64
	Offset   uint32 // physical row of the fragment
}

// Problem is a row that breaks a rule. It is an error.
type Problem struct {
	Rule     Rule
	Refuses  bool   // the Rust engine refuses the graph for it
	Row      RowRef // zero when the problem is not one row's
	Table    string // alias or identity that it makes doubtful; "" = none
	Found    string
	Expected string
}

func (p Problem) Error() string {
	where := fmt.Sprintf("row %q", clip(p.Row.ObjectID))
	if p.Row.ObjectID == "" {
		where = fmt.Sprintf("fragment %d", p.Row.Fragment)
	}
	return fmt.Sprintf("__manifest, %s, rule %s: found %s, expected %s", where, p.Rule, p.Found, p.Expected)
}

// Refused reports whether any of the problems makes the Rust engine refuse the
// graph.
func Refused(problems []Problem) bool {
	for _, p := range problems {
		if p.Refuses {
			return true
		}
	}
	return false
}
