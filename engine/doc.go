// Package engine is what can be asked of a graph: one exported method of Graph
// is one operation, whoever asks.
//
// # Rules of the room
//
//   - Looking writes nothing. The store is wrapped by blob.ReadOnly, and no
//     reading method runs recovery: a pending one is a finding.
//   - An operation has a view: it opens `__manifest` once per branch and
//     version that it needs, and everything it answers comes from those.
//   - It has a meter of its own, nested in what the context carries, and leaves
//     one line in the ledger, however it ends.
//   - What can be read is answered; what cannot is a Finding or a typed error
//     that names the object, what was found, what was expected, what is still
//     trustworthy and the next safe step. Damaged is never shown as empty, and
//     an older version never as the newest.
//   - Counts that stand in the catalogue are called recorded; only what was read
//     is called counted.
//   - What no data depends on is asked for side by side; the budgets of
//     engine-semantics §8.3 are tests, and golden/trace holds every request.
package engine
