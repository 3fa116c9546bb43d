package pb

import (
	"fmt"
	"strings"
)

// Message names that stand after the last slash of a type URL.
const (
	PageLayoutName     = "lance.encodings21.PageLayout"
	ArrayEncodingName  = "lance.encodings.ArrayEncoding"
	ColumnEncodingName = "lance.encodings.ColumnEncoding"
)

// AnyName is the message name in the type URL of a google.protobuf.Any: what
// follows the last slash. A URL without a slash is an error, as it is for the
// reader of Lance.
func AnyName(url string) (string, error) {
	i := strings.LastIndexByte(url, '/')
	if i < 0 {
		return "", fmt.Errorf("type URL %q: no slash before the message name", url)
	}
	return url[i+1:], nil
}
