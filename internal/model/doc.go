// Package model is for tests: a graph as plain maps, what each operation makes
// of it, and walks of random operations by several clients, with kills, lost
// answers and restarts, which are judged against it.
//
// # A walk
//
// A walk is a list of operations, each of a client. Clients have handles of their
// own, ids of their own, and one store in memory. Every call of every client
// waits for its turn, and turns are given one at a time: in the order of the list,
// but where an operation has a pause, or, when the walk is woven, to whom the seed
// says. Time is simulated (testing/synctest) and moves a millisecond with each
// turn. So a walk is the same walk each time, down to the call.
//
// An operation may have faults, each at the n-th of its calls:
//
//	kill    the call is not made, and no later one: the process is dead
//	die     the same, after the call was made
//	lose    the call is made, and its answer is lost
//	fail    the call is not made
//	pause   the client stands still until so many other operations ended or
//	        stopped, and so much time passed
//
// After its death a client goes on with its next operation and a new handle.
//
// # What must be true
//
// Every operation's commit carries the operation's name as its actor, so that the
// history tells in which order they took place. Played back in that order:
//
//	acknowledged   its commit is there, once, with the id that was told, between
//	               the beginning and the end of the operation, and counted what
//	               the model counts
//	refused        it is not there; when it broke a rule, there was a state of
//	               the graph meanwhile in which the model says so too
//	unknown        it is there once or not at all: recovery decided
//	recovery's     no row changed
//
// and each commit shows exactly the rows of the model, as does every export that
// was taken meanwhile, of one of the states that it may have seen. At the end
// recovery leaves nothing, a second one does nothing, verify finds nothing, every
// table's newest version is the one that is published.
//
// # A failing run
//
// Draw makes the operations from the seed and their number alone, so that a walk
// shrinks: operations and faults are left out as long as it still fails. What is
// left is printed, with a line to run it again:
//
//	OMNIDECK_SEED=7 OMNIDECK_OPS=3,5-,9 go test ./internal/model -run TestWalk
//
// where "-" says that the operation is without its faults, and a leading "w" that
// the walk is woven.
package model
