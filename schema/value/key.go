package value

import (
	"math"
	"strconv"

	"github.com/omnideck/omnideck/internal/ojson"
)

// Key is the text by which values of one property are told apart (package
// comment). The error is a *Refusal without property: null, lists, vectors,
// blobs and floats that are not finite have no such text.
func (v Value) Key() (string, error) {
	switch v.kind {
	case Text:
		return v.text, nil
	case Bool:
		return strconv.FormatBool(v.Bool()), nil
	case Int, Date, DateTime:
		return strconv.FormatInt(v.Int(), 10), nil
	case Uint:
		return strconv.FormatUint(v.bits, 10), nil
	case Float32, Float64:
		return v.floatKey()
	case Null:
		return "", refuse("", RuleKey, "a null cannot identify an entity")
	}
	return "", refuse("", RuleKey, "scalar key: unsupported column type for @unique/@key enforcement: a list, vector or blob")
}

func (v Value) floatKey() (string, error) {
	x, _ := v.Number()
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "", refuse("", RuleKey, "scalar key: non-finite value %s cannot identify an entity", decimals(x))
	case x == 0:
		return "0", nil
	case v.kind == Float32:
		return strconv.FormatFloat(x, 'f', -1, 32), nil
	}
	return decimals(x), nil
}

// ID is the id of a node with a key: the values of Type.Key, in that order. The
// error is a *Refusal as of Value.Key.
func ID(key []Value) (string, error) {
	texts := make([]string, len(key))
	for i, v := range key {
		var err error
		if texts[i], err = v.Key(); err != nil {
			return "", err
		}
	}
	if len(texts) == 1 {
		return texts[0], nil
	}
	return string(ojson.Strs(texts).Append(nil)), nil
}
