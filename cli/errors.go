package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/theme"
)

// Exit codes.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitFindings    = 3
	exitMoved       = 4
	exitRefused     = 6
	exitInterrupted = 130
)

// usageError: the command line cannot be understood. Nothing was done.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// findingsError: the verb did its work and printed what is wrong.
type findingsError struct{ count int }

func (e *findingsError) Error() string {
	if e.count == 1 {
		return "one problem found"
	}
	return fmt.Sprintf("%d problems found", e.count)
}

// timeoutError: --timeout ended the run.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("gave up after %s, as --timeout says; nothing was written", e.after)
}

// partial: the error came beside an answer that was really read. The answer is
// printed, then the error, and the exit code is that of the error.
func partial(err error) bool {
	var incomplete *engine.IncompleteError
	return errors.As(err, &incomplete)
}

// also returns the error of printing, or else the one that came beside the
// answer.
func also(printing, beside error) error {
	if printing != nil {
		return printing
	}
	return beside
}

// exitCode is the exit code of a run that ended with err.
func exitCode(ctx context.Context, err error) int {
	var (
		usage    *usageError
		asked    *engine.UsageError
		findings *findingsError
		moved    *engine.HeadMovedError
		plan     *engine.PlanMovedError
		refused  *refusedError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &moved), errors.As(err, &plan):
		return exitMoved
	case errors.As(err, &refused):
		return exitRefused
	case engine.Wrote(err) && ctx.Err() == nil:
		return exitError
	case errors.As(err, &findings):
		return exitFindings
	case errors.As(err, &usage), errors.As(err, &asked):
		return exitUsage
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, blob.ErrReadOnly):
		return exitRefused
	}
	return exitError
}

// report says on stderr why a run failed.
func (e *Env) report(ctx context.Context, err error) {
	text := sentences(err)
	var (
		findings *findingsError
		moved    *movedError
		refused  *refusedError
	)
	switch {
	case errors.As(err, &findings), errors.As(err, &refused):
		return // said on stdout already
	case errors.As(err, &moved):
		return
	case exitCode(ctx, err) == exitInterrupted && engine.Wrote(err):
		text = "interrupted: " + text
	case exitCode(ctx, err) == exitInterrupted:
		text = "interrupted; nothing was written"
	}
	th := e.theme(e.Stderr, false)
	text = strings.ReplaceAll(text+out.Clean(hint(err)), "\n", "\n       ") // below the first one
	fmt.Fprintf(e.Stderr, "%s %s\n", th.Paint(theme.Bad, "error:"), text)
	if more := engine.Details(err); more != "" && exitCode(ctx, err) != exitInterrupted {
		fmt.Fprintln(e.Stderr, th.Paint(theme.Muted, "       details: "+out.Clean(more)))
	}
}

// sentences is the text of an error, safe to print: errors that were joined
// stand on a line each, and any other newline, as one in the name of an
// object, is an escape.
func sentences(err error) string {
	var parts []error
	switch w := err.(type) {
	case interface{ Unwrap() []error }:
		parts = w.Unwrap()
		if len(parts) > 1 && err.Error() == errors.Join(parts...).Error() {
			lines := make([]string, len(parts))
			for i, p := range parts {
				lines[i] = sentences(p)
			}
			return strings.Join(lines, "\n")
		}
	case interface{ Unwrap() error }:
		if p := w.Unwrap(); p != nil {
			parts = []error{p}
		}
	}
	text := out.Clean(err.Error())
	for _, p := range parts {
		if p == nil {
			continue
		}
		if s := sentences(p); strings.Contains(s, "\n") {
			text = strings.Replace(text, out.Clean(p.Error()), s, 1)
		}
	}
	return text
}

// hint is the next safe step where the error itself does not name one.
func hint(err error) string {
	var notGraph *engine.NotAGraphError
	switch {
	case partial(err):
		return "; `omnideck verify` tells all"
	case errors.As(err, &notGraph):
		return hintNotAGraph(notGraph)
	case engine.NextStep(err) != "":
		return "; " + engine.NextStep(err)
	}
	return ""
}

func hintNotAGraph(e *engine.NotAGraphError) string {
	switch {
	case e.Hint != "":
		return ""
	case e.Kind == "lance":
		return "; look at it with `omnideck lance info PATH`"
	}
	return "; check the address"
}
