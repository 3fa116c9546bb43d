package format

import "encoding/binary"

// footerSize is the length of what follows the Manifest block.
const footerSize = 16

// magic ends every manifest file.
const magic = "LANC"

// manifestBlock checks the framing of a whole manifest file and cuts out the
// Manifest message, and the part of the file before it.
func manifestBlock(file []byte) (block, head []byte, err error) {
	n := int64(len(file))
	switch {
	case n == 0:
		return nil, nil, Corruptf("the manifest file is empty")
	case n < footerSize+4:
		return nil, nil, Corruptf("a manifest file of %d bytes cannot hold a length and the 16-byte footer", n)
	case string(file[n-4:]) != magic:
		return nil, nil, Corruptf("a manifest file ends in %q, found %q: it was cut or something was appended", magic, file[n-4:])
	}
	pos := int64(binary.LittleEndian.Uint64(file[n-footerSize:]))
	if pos < 0 || pos > n-footerSize-4 {
		return nil, nil, Corruptf("the footer says that the manifest begins at %d, outside the file of %d bytes", pos, n)
	}
	size, want := int64(binary.LittleEndian.Uint32(file[pos:])), n-footerSize-4-pos
	if size != want {
		return nil, nil, Corruptf("the manifest block at %d says %d bytes, but %d lie before the footer", pos, size, want)
	}
	return file[pos+4 : n-footerSize], file[:pos], nil
}

// section cuts a block that begins at pos out of the bytes before the
// Manifest. what is for the message.
func section(head []byte, pos uint64, what string) ([]byte, error) {
	n := uint64(len(head))
	if n < 4 || pos > n-4 {
		return nil, Corruptf("the %s section begins at %d, but only %d bytes lie before the manifest block", what, pos, n)
	}
	size := uint64(binary.LittleEndian.Uint32(head[pos:]))
	if size > n-4-pos {
		return nil, Corruptf("the %s section at %d says %d bytes, but only %d lie before the manifest block", what, pos, size, n-4-pos)
	}
	return head[pos+4 : pos+4+size], nil
}
