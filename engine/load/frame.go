package load

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/omnideck/omnideck/txn/validate"
)

// Limits of one line.
const (
	MaxLine  = validate.MaxBytes // bytes, without its end
	MaxSlots = 131072            // one, and one for each of { } [ ] , : outside strings
)

// frames cuts a stream into lines. It holds one of them.
type frames struct {
	r    *bufio.Reader
	line int // number of the line read last, from 1
	buf  []byte
}

func newFrames(r io.Reader) *frames { return &frames{r: bufio.NewReaderSize(r, 256<<10)} }

// next is the next line without its LF or CRLF, io.EOF at the end. It is valid
// until the next call. A line that is too long is a *validate.LimitError.
func (f *frames) next() ([]byte, error) {
	f.buf = f.buf[:0]
	for {
		part, err := f.r.ReadSlice('\n')
		whole := part
		if len(f.buf) > 0 || errors.Is(err, bufio.ErrBufferFull) {
			f.buf = append(f.buf, part...)
			whole = f.buf
		}
		switch {
		case err == nil:
			f.line++
			whole = bytes.TrimSuffix(whole[:len(whole)-1], []byte{'\r'})
			return whole, f.fits(len(whole))
		case errors.Is(err, io.EOF) && len(whole) > 0:
			f.line++
			return whole, f.fits(len(whole))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		if len(f.buf) > MaxLine+1 { // one more may be the CR of its end
			f.line++
			return nil, f.fits(len(f.buf))
		}
	}
}

func (f *frames) fits(n int) error {
	if n <= MaxLine {
		return nil
	}
	return &validate.LimitError{
		Resource: "graph_batch_line_bytes", Line: f.line, Limit: MaxLine, Actual: int64(n),
		Advice: "a line is one entity: put large bytes elsewhere",
	}
}

// blank reports whether a line is of ASCII white space alone.
func blank(line []byte) bool {
	for _, c := range line {
		switch c {
		case ' ', '\t', '\n', '\r', '\f':
		default:
			return false
		}
	}
	return true
}

// slots refuses a line with more structure than one entity has.
func (f *frames) slots(line []byte) error {
	if len(line) < MaxSlots {
		return nil
	}
	n, text := int64(1), false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			text = !text
		case text && c == '\\':
			i++
		case !text && (c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':'):
			n++
		}
		if n > MaxSlots {
			return &validate.LimitError{
				Resource: "graph_batch_json_structural_slots", Line: f.line, Limit: MaxSlots, Actual: n,
				Advice: "a line is one entity with its own properties",
			}
		}
	}
	return nil
}
