package form

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/omnideck/omnideck/internal/ojson"
)

// TextMax is how many bytes of one value are put into a field. What is longer
// is kept.
const TextMax = 32 << 10

// Read makes the entries of a row from its line, as export spells it. Of blobs
// it takes only whether they are there.
func (f *Form) Read(line []byte) ([]Entry, error) {
	doc, err := ojson.Parse(line)
	if err != nil {
		return nil, fmt.Errorf("reading a row of %s: %w", f.Alias(), err)
	}
	top := map[string]ojson.Value{}
	for _, m := range doc.Members() {
		top[m.Name] = m.Value
	}
	data := map[string]ojson.Value{}
	for _, m := range top["data"].Members() {
		data[m.Name] = m.Value
	}
	out := f.Empty()
	for i := range f.Fields {
		x := &f.Fields[i]
		v, ok := data[x.Name]
		if x.Kind == End {
			v, ok = top[x.Name]
		}
		if !ok {
			return nil, fmt.Errorf("reading a row of %s: it has no %s; the schema was changed since it was read", f.Alias(), x.Name)
		}
		out[i] = x.entry(v)
	}
	return out, nil
}

// entry is a value as it stands in the field.
func (x *Field) entry(v ojson.Value) Entry {
	if v.Kind() == ojson.Null {
		return Entry{}
	}
	text := v.Text()
	switch x.Kind {
	case Blob:
		return Entry{Given: true, Kept: true}
	case JSON:
		text = string(x.readable(v).Append(nil))
	case Choice:
		if v.Kind() == ojson.Bool {
			text = strconv.FormatBool(v.True())
		}
	case Time, Number:
		text = x.readable(v).Text()
	}
	if len(text) > TextMax {
		return Entry{Given: true, Kept: true, Text: text[:64]}
	}
	return Entry{Given: true, Text: text}
}

// readable puts dates and times, which rows have as numbers, into words, and
// gives floats no more digits than they need.
func (x *Field) readable(v ojson.Value) ojson.Value {
	if v.Kind() == ojson.Array {
		items := make([]ojson.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			items = append(items, x.readable(item))
		}
		return ojson.Arr(items...)
	}
	n, err := v.Int()
	switch name := x.prop.Scalar.Name; {
	case name == "F32" || name == "F64" || name == "Vector":
		bits := 32
		if name == "F64" {
			bits = 64
		}
		if f, err := v.Float(); err == nil {
			if short, err := ojson.Parse(strconv.AppendFloat(nil, f, 'g', -1, bits)); err == nil {
				return short
			}
		}
	case err != nil:
	case name == "Date":
		return ojson.Str(time.Unix(n*86_400, 0).UTC().Format(time.DateOnly))
	case name == "DateTime":
		return ojson.Str(time.UnixMilli(n).UTC().Format("2006-01-02T15:04:05.999Z07:00"))
	}
	return v
}

// Bytes is the entry of a blob.
func Bytes(data []byte) Entry {
	return Entry{Given: true, Text: "base64:" + base64.StdEncoding.EncodeToString(data)}
}
