package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Folders of a dataset, relative to its root.
const (
	VersionsDir     = "_versions"
	TransactionsDir = "_transactions"
	DataDir         = "data"
	DeletionsDir    = "_deletions"
	IndicesDir      = "_indices"
	RefsDir         = "_refs"
	TreeDir         = "tree"
	HintName        = "latest_version_hint.json"
)

// NameKind is the shape of a name in _versions.
type NameKind uint8

// The shapes.
const (
	NotManifest NameKind = iota
	NameV2               // inverted, 20 digits
	NameV1               // plain
	NameDetached
)

const (
	manifestSuffix = ".manifest"
	detachedBit    = uint64(1) << 63
)

// ManifestName is the V2 name of a version, in _versions.
func ManifestName(version uint64) string {
	return fmt.Sprintf("%020d%s", math.MaxUint64-version, manifestSuffix)
}

// ManifestNameV1 is the legacy name of a version, in _versions.
func ManifestNameV1(version uint64) string {
	return strconv.FormatUint(version, 10) + manifestSuffix
}

// DetachedName is the name of a detached version, in _versions. version has
// bit 63 set.
func DetachedName(version uint64) string {
	return "d" + strconv.FormatUint(version, 10) + manifestSuffix
}

// ParseManifestName reads a name in _versions. Only names that Lance itself
// would give are versions: anything else is NotManifest.
func ParseManifestName(name string) (version uint64, kind NameKind) {
	digits, ok := strings.CutSuffix(name, manifestSuffix)
	if !ok {
		return 0, NotManifest
	}
	digits, detached := strings.CutPrefix(digits, "d")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, NotManifest
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err != nil:
		return 0, NotManifest
	case detached && n&detachedBit != 0:
		return n, NameDetached
	case detached:
		return 0, NotManifest
	case len(digits) == 20:
		return math.MaxUint64 - n, NameV2
	case digits[0] == '0' && digits != "0":
		return 0, NotManifest
	}
	return n, NameV1
}

// TransactionPath is the path of a transaction file relative to the folder of
// the branch; name is Manifest.TransactionFile.
func TransactionPath(name string) string { return TransactionsDir + "/" + name }

// DataPath is the path of a data file relative to a base that is a dataset's
// root.
func (f *DataFile) DataPath() string { return DataDir + "/" + f.Path }

// DeletionPath is the path of the deletion file of a fragment, relative to the
// root of its base.
func DeletionPath(fragment uint64, d *DeletionFile) string {
	ext := "arrow"
	if d.Kind == DeletionBitmap {
		ext = "bin"
	}
	return fmt.Sprintf("%s/%d-%d-%d.%s", DeletionsDir, fragment, d.ReadVersion, d.ID, ext)
}

// IndexDir is the folder of an index segment relative to the root of its base.
func IndexDir(uuid string) string { return IndicesDir + "/" + uuid }

// BranchDir is the folder of a branch relative to the main root: "" for main.
func BranchDir(branch string) string {
	if branch == "" || branch == "main" {
		return ""
	}
	return TreeDir + "/" + branch
}

// Join puts path elements together, leaving out empty ones.
func Join(elems ...string) string {
	var b strings.Builder
	for _, e := range elems {
		if e == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		b.WriteString(e)
	}
	return b.String()
}
