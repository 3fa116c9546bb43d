package pack

import (
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

func flatOf(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Flat{Flat: &enc21pb.Flat{BitsPerValue: bits}}}
}

func packedOf(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_InlineBitpacking{
		InlineBitpacking: &enc21pb.InlineBitpacking{UncompressedBitsPerValue: bits}}}
}

func runsOf(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Rle{
		Rle: &enc21pb.Rle{Values: flatOf(bits), RunLengths: flatOf(8)}}}
}

func variableOf(width int) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Variable{
		Variable: &enc21pb.Variable{Offsets: flatOf(uint64(8 * width))}}}
}

func fsstOf(table []byte, inner *enc21pb.CompressiveEncoding) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Fsst{
		Fsst: &enc21pb.Fsst{SymbolTable: table, Values: inner}}}
}

func generalOf(scheme enc21pb.CompressionScheme, inner *enc21pb.CompressiveEncoding) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_General{
		General: &enc21pb.General{Compression: &enc21pb.BufferCompression{Scheme: scheme}, Values: inner}}}
}

// bytesOf is the memory of words, which is what files hold: see file.NewWriter.
func bytesOf[T bitpack.Word](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*bitpack.Bits[T]()/8)
}

// wordsOf is bytes as words, in place if they are aligned.
func wordsOf[T bitpack.Word](b []byte) []T {
	var t T
	n := len(b) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%unsafe.Alignof(t) == 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	out := make([]T, n)
	copy(bytesOf(out), b)
	return out
}

// pad fills up to a multiple of eight bytes, counted from at.
func pad(dst []byte, at int) []byte {
	for (len(dst)-at)%8 != 0 {
		dst = append(dst, 0xfe)
	}
	return dst
}
