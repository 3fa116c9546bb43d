package recovery_test

import "github.com/omnideck/omnideck/manifest"

func names(tables []manifest.Entry) (out []string) {
	for _, e := range tables {
		out = append(out, e.Alias)
	}
	return out
}
