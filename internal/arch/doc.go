// Package arch is the plan of the house as a test: which room may import
// which, what a codec may not touch, and where writes may be called from.
// ARCHITECTURE.md says the same in words; when the two disagree, one of them
// is a bug.
package arch
