// Package txn is the one way in which a graph changes. Half of it is pure: what a
// write is (PublishPlan), and what its traces mean (Interpret, Judge, Advanced),
// without store, clock or randomness. The other half carries writes out.
//
// # A write
//
//	Run      attempts from fresh bases until one is acknowledged
//	Begin    the base, captured once: records, lock, contract, `__manifest`
//	Txn      tables at their published versions, each opened once; Reader for
//	         validation; Insert, Upsert, Merge, Update, Delete, Overwrite stage; Plan
//	Publish  gates → arm → effects → confirm → publish → retire
//
// Before it is armed a write leaves files that no version names, and nothing
// else. From then on its record stands until it is published: whoever reads sees
// the old graph or the new one. A lost answer of any PUT, and a first table that
// another writer moved, are settled by reading. Two writers of a branch that
// passed their gates side by side do not both go on: each looks for the other's
// record after it wrote its own, and the one with the greater id gives way.
//
// What a one-row update asks for, a line for what goes side by side (warm leaves
// out what is marked ·); docs/REQUESTS.md says what each request is for:
//
//	LIST __recovery, HEAD lock, GET of three schema objects, LIST __manifest
//	· GET of its manifest
//	· GET of its files
//	· GET of the table's manifest
//	· GET of the table's rows
//	PUT data, PUT transaction of the table
//	LIST __recovery, HEAD lock, GET marker, LIST __manifest, LIST of the table
//	PUT record
//	LIST __recovery
//	LIST __manifest
//	PUT manifest of the table
//	PUT record, PUT data, PUT deletions, PUT transaction of __manifest
//	PUT manifest of __manifest
//	DELETE record
//
// Of several tables the first is committed alone, so that a conflict there leaves
// nothing behind; the others then side by side.
//
// # A write is a value
//
//	Base            the state of the branch that it was planned against, and its exact head
//	Class, Pre      who may be overtaken by whom, and what the publish demands of the branch
//	TableAction     one table: its published version, the transactions that move it by id
//	Delta           the rows of `__manifest` that the publish writes; versions are bound by Confirm
//	Lineage         the commit that it makes; ids are minted once, for all attempts to publish
//	Phase           Prepared → Armed → Confirmed → Published
//
// A plan is never changed: Arm, Confirm, RollBack and Publish return the next
// one, or an error when that is not the next step. Record and FromRecord lead to
// the recovery sidecar and back. Version 9 of it does not carry: the class
// below logical (Strict is assumed), Base.Version, Reads, the branch that a fork
// is taken from, and of an Optimize anything but its pins and the prefix of its
// transactions' ids.
//
// # Whose movement is it
//
// A table whose newest version is not the one published was moved by this
// operation, by another one, or by nobody who says so. Only the ids of
// transactions tell; numbers of versions prove nothing. Two functions compare a
// HEAD with a pin, and nothing else does (internal/arch):
//
//	Judge      one table, without a plan: at rest, behind, covered by a record, drift
//	Interpret  a plan, what its tables look like, what the branch shows → Verdict
//
// Interpret serves the writer before it arms (Proceed, Replan, or why not), the
// writer whose effects were refused (Discard proves that nothing happened),
// and recovery. A Verdict is what is right when nobody else writes; Under says
// what of it a mode may do.
//
//	                                            Mutation, Load   BranchMerge     EnsureIndices   SchemaApply
//	branch has no ref                           OrphanDiscard for all
//	own commit visible and as planned           Finalize for all; both commits: Refuse
//	roll-back commit visible                    Finalize for all; what the writer did since is restored first
//	a HEAD below what is published              Refuse for all
//	transactions that cannot be told            Refuse for all
//	own effect under foreign ones, pin moved    Refuse for all
//	no own effect, tables elsewhere moved       Discard          Refuse          Refuse          Refuse
//	no own effect                               Discard          Discard         Back            Back
//	branch deleted and made anew, effects       Refuse           Refuse          Refuse          –
//	roll-back was decided                       Back for all
//	Armed, or authority moved                   Back for all
//	Confirmed, not all at HEAD                  Back             Refuse          Back            Back
//	Confirmed, all at HEAD                      Forward for all; a schema apply only with its staged files
//
// This is what the Rust engine does too (tests let it recover the same states),
// but for a decided roll-back of a Mutation, Load or BranchMerge, which it
// publishes after all when the authority is the recorded one again; for foreign
// versions among those of an Optimize, which it publishes; and for a writer who
// comes back after its roll-back: what he moved since it leaves, and a record that
// he wrote anew, without the outcomes, it refuses.
//
// An Optimize says only which tables it may move. Every version above the pin
// must keep the content and, where the record tells the prefix, carry it. All
// tables moved: Forward. Some: Back. None: Finalize when they are published
// already, else Discard; without a prefix the Rust engine's record of a
// roll-back of nothing (Back without tables).
//
// # What recovery does with Back, in this order
//
// Persist RollBack's outcomes in the record; per table what TableVerdict.Do
// says, a Restore being committed at exactly HEAD + 1 under RestoreID, never
// rebased; publish the new HEADs under the plan's roll-back id; audit; delete the
// record. After anything is lost: observe and interpret afresh. When the
// operation turns out to be published and a restore of its own recovery lies
// above it, Finalize says to restore to the published version and to publish
// that first. Whoever finds the roll-back published, by a record that does not
// tell its outcomes, looks again: it was decided after he had read it. When the
// record still does not tell, its writer wrote it anew, and the tables are asked
// (Verdict.Guessed).
//
// # Errors
//
// Every error is of one of three classes: ErrRetry, ErrCaller, ErrRecovery.
//
// # Has the content changed
//
// Advanced folds the transactions of an interval of versions of one table:
// maintenance, or logical and why. A lost transaction is logical.
package txn
