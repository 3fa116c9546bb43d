package layout

import (
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/lance/encoding/general"
	"github.com/omnideck/omnideck/lance/file/nest"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// Describe says for people what a page's layout is: its name, the tree of its
// encodings, and its layers, innermost first.
func Describe(pl *enc21pb.PageLayout) (layout, encoding string, layers []string) {
	switch l := pl.GetLayout().(type) {
	case *enc21pb.PageLayout_MiniBlock:
		return "miniblock", miniText(l.MiniBlock), layersText(l.MiniBlock.GetLayers())
	case *enc21pb.PageLayout_FullZip:
		return "fullzip", fullZipText(l.FullZip), layersText(l.FullZip.GetLayers())
	case *enc21pb.PageLayout_Constant:
		return "constant", constantText(l.Constant), layersText(l.Constant.GetLayers())
	case *enc21pb.PageLayout_Blob:
		name, inner, _ := Describe(l.Blob.GetInnerLayout())
		return "blob", name + " " + inner, layersText(l.Blob.GetLayers())
	case *enc21pb.PageLayout_Sparse:
		return "sparse", "", nil
	}
	return "unknown", "", nil
}

func layersText(layers []enc21pb.RepDefLayer) []string {
	out := make([]string, len(layers))
	for i, l := range layers {
		out[i] = nest.LayerKind(l).String()
	}
	return out
}

func miniText(l *enc21pb.MiniBlockLayout) string {
	parts := []string{encodingText(l.GetValueCompression())}
	if d := l.GetDictionary(); d != nil {
		parts = append(parts, fmt.Sprintf("dictionary %s of %d", encodingText(d), l.GetNumDictionaryItems()))
	}
	return levelsText(parts, l.GetRepCompression(), l.GetDefCompression())
}

func levelsText(parts []string, rep, def *enc21pb.CompressiveEncoding) string {
	if rep != nil {
		parts = append(parts, "rep "+encodingText(rep))
	}
	if def != nil {
		parts = append(parts, "def "+encodingText(def))
	}
	return strings.Join(parts, ", ")
}

func fullZipText(l *enc21pb.FullZipLayout) string {
	return fmt.Sprintf("%s, rep %d bits, def %d bits", encodingText(l.GetValueCompression()), l.GetBitsRep(), l.GetBitsDef())
}

func constantText(l *enc21pb.ConstantLayout) string {
	var parts []string
	if l.InlineValue != nil {
		parts = append(parts, fmt.Sprintf("value of %d bytes", len(l.GetInlineValue())))
	}
	return levelsText(parts, l.GetRepCompression(), l.GetDefCompression())
}

// encodingText is a tree of encodings, cut where it is nested too deeply.
func encodingText(e *enc21pb.CompressiveEncoding) string { return nodeText(e, maxDepth) }

func nodeText(e *enc21pb.CompressiveEncoding, depth int) string {
	if depth == 0 {
		return "…"
	}
	in := func(e *enc21pb.CompressiveEncoding) string { return nodeText(e, depth-1) }
	switch n := e.GetCompression().(type) {
	case *enc21pb.CompressiveEncoding_Flat:
		return fmt.Sprintf("flat(%d)", n.Flat.GetBitsPerValue())
	case *enc21pb.CompressiveEncoding_Variable:
		return fmt.Sprintf("variable(%s)", in(n.Variable.GetOffsets()))
	case *enc21pb.CompressiveEncoding_Constant:
		return "constant"
	case *enc21pb.CompressiveEncoding_OutOfLineBitpacking:
		return fmt.Sprintf("out-of-line bit-packing(%d, %s)", n.OutOfLineBitpacking.GetUncompressedBitsPerValue(), in(n.OutOfLineBitpacking.GetValues()))
	case *enc21pb.CompressiveEncoding_InlineBitpacking:
		return fmt.Sprintf("inline bit-packing(%d)", n.InlineBitpacking.GetUncompressedBitsPerValue())
	case *enc21pb.CompressiveEncoding_Fsst:
		return fmt.Sprintf("fsst(%s)", in(n.Fsst.GetValues()))
	case *enc21pb.CompressiveEncoding_Dictionary:
		return "dictionary"
	case *enc21pb.CompressiveEncoding_Rle:
		return fmt.Sprintf("rle(%s, %s)", in(n.Rle.GetValues()), in(n.Rle.GetRunLengths()))
	case *enc21pb.CompressiveEncoding_ByteStreamSplit:
		return fmt.Sprintf("byte stream split(%s)", in(n.ByteStreamSplit.GetValues()))
	case *enc21pb.CompressiveEncoding_General:
		return fmt.Sprintf("%s(%s)", general.Scheme(n.General.GetCompression().GetScheme()), in(n.General.GetValues()))
	case *enc21pb.CompressiveEncoding_FixedSizeList:
		validity := ""
		if n.FixedSizeList.GetHasValidity() {
			validity = ", validity"
		}
		return fmt.Sprintf("fixed-size list(%d, %s%s)", n.FixedSizeList.GetItemsPerValue(), in(n.FixedSizeList.GetValues()), validity)
	case *enc21pb.CompressiveEncoding_PackedStruct:
		return fmt.Sprintf("packed struct(%v, %s)", n.PackedStruct.GetBitsPerValue(), in(n.PackedStruct.GetValues()))
	case *enc21pb.CompressiveEncoding_VariablePackedStruct:
		var parts []string
		for _, f := range n.VariablePackedStruct.GetFields() {
			parts = append(parts, in(f.GetValue()))
		}
		return fmt.Sprintf("variable packed struct(%s)", strings.Join(parts, ", "))
	}
	return "nothing known"
}
