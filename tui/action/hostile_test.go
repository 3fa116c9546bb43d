package action

import (
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/pace"
)

// TestHostileKeyMaps: a key map that no one would write is refused at once.
func TestHostileKeyMaps(t *testing.T) {
	for name, text := range map[string]string{
		"dotted":        "a" + strings.Repeat(".a", (userMax-4)/2) + "=1",
		"tables":        strings.Repeat("[a]\n[a.b]\n", userMax/12),
		"dotted tables": "[a" + strings.Repeat(".a", (userMax-4)/2) + "]",
		"short dotted":  strings.Repeat("a"+strings.Repeat(".a", userLine/2-4)+"=1\n", userMax/userLine),
		"nested":        "keys=" + strings.Repeat("[", userMax-6),
		"inline":        "keys=" + strings.Repeat("{a=", userMax/3-3),
		"many":          "[keys]\n" + strings.Repeat("sort=[\"x\"]\n", userMax/12),
		"controls":      "[keys]\n\"\\u001b[31m\\u202e\"=[\"x\"]",
		"bytes":         "[keys]\n\xff\xfe=1",
		"no way":        "[keys]\nleave=[]",
		"long key":      "[keys]\nsort=[\"" + strings.Repeat("x", userMax-32) + "\"]",
	} {
		pace.Within(t, "refusing "+name, time.Second, func() time.Duration {
			return pace.Thread(func() {
				if _, err := Read([]byte(text)); err == nil {
					t.Errorf("%s: taken", name)
				}
			})
		})
	}
}
