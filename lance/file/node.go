package file

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// node is a field of a column's tree, in the shape of its Arrow type.
type node struct {
	dt       arrow.DataType
	kind     nest.Kind
	leaf     bool
	depth    int // nodes above
	children []*node
	from, to int // the leaves below, or the one that it is: [from, to)
	// Of a leaf, what its physical column holds.
	col layout.Column
}

// tree makes the nodes of a field. path is the layers above, outermost first,
// and next the number of the next leaf.
func tree(f *format.Field, dt arrow.DataType, path []nest.Layer, next *int) (*node, error) {
	n := &node{dt: dt, depth: len(path), from: *next}
	if isLeaf(f) {
		var err error
		if n.col.Type, err = values.TypeOf(dt); err != nil {
			return nil, err
		}
		n.leaf, n.to = true, *next+1
		*next++
		layers := []nest.Layer{{Kind: nest.Item}}
		for i := len(path) - 1; i >= 0; i-- {
			layers = append(layers, path[i])
		}
		n.col.Path, err = nest.NewPath(layers)
		return n, err
	}
	layer, types, err := childTypes(dt)
	if err != nil {
		return nil, err
	}
	if len(types) != len(f.Children) {
		return nil, format.Corruptf("field %q has %d children, its type %s has %d", f.Name, len(f.Children), dt, len(types))
	}
	n.kind = layer.Kind
	below := append(path[:len(path):len(path)], layer)
	for i, c := range f.Children {
		child, err := tree(c, types[i], below, next)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	n.to = *next
	return n, nil
}

// childTypes is the layer that a nested type adds, and the types of its
// children.
func childTypes(dt arrow.DataType) (nest.Layer, []arrow.DataType, error) {
	switch t := dt.(type) {
	case *arrow.StructType:
		types := make([]arrow.DataType, t.NumFields())
		for i := range types {
			types[i] = t.Field(i).Type
		}
		return nest.Layer{Kind: nest.Item}, types, nil
	case *arrow.ListType:
		return nest.Layer{Kind: nest.List}, []arrow.DataType{t.Elem()}, nil
	case *arrow.LargeListType:
		return nest.Layer{Kind: nest.List, Wide: true}, []arrow.DataType{t.Elem()}, nil
	case *arrow.MapType:
		return nest.Layer{Kind: nest.List}, []arrow.DataType{t.Elem()}, nil
	case *arrow.FixedSizeListType:
		return nest.Layer{Kind: nest.FixedList, Dim: int(t.Len())}, []arrow.DataType{t.Elem()}, nil
	}
	return nest.Layer{}, nil, format.Unsupportedf("a nested column of %s", dt)
}

// leaves appends the leaves of the tree, depth first.
func (n *node) leaves(out []*node) []*node {
	if n.leaf {
		return append(out, n)
	}
	for _, c := range n.children {
		out = c.leaves(out)
	}
	return out
}
