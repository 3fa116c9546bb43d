package lance

import (
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// FolderOf names the dataset folder in which files of a reference lie, so that
// two versions of a dataset, also of two of its branches, can be compared: a
// prefix in the store, or behind "@" the place that the manifest recorded. An
// entry that the manifest does not list is damage. No request.
func (s *Snapshot) FolderOf(ref format.BaseRef) (string, error) {
	p, st, ok, err := s.bases.own(ref)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "@" + spelling(st.entry.Path), nil
	}
	return p.dir, nil
}

// BlobPlace is where the bytes of a blob lie. Data files are written once, so
// that equal places hold equal bytes.
type BlobPlace struct {
	Folder   string // as FolderOf names it
	Name     string // of the data file or the side-car
	Position uint64
	Size     uint64
}

// Place is where the bytes lie that the dataset keeps; the zero value for null
// and external blobs. No request.
func (b *Blob) Place() (BlobPlace, error) {
	if b.Null || b.Kind == BlobExternal {
		return BlobPlace{}, nil
	}
	folder, err := b.s.FolderOf(b.data.Base)
	if err != nil {
		return BlobPlace{}, err
	}
	name := b.data.Path
	if b.Kind != BlobInline {
		name = file.SidecarPath(name, b.id)
	}
	return BlobPlace{folder, name, b.position, b.Size}, nil
}
