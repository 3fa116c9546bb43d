package screen

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/tui/action"
)

// Stripped is an address without what may be a secret: user, password, query.
func Stripped(uri string) string {
	if !strings.Contains(uri, "://") {
		return uri
	}
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// atArgs are the flags that name the moment that all screens show.
func atArgs(e *Env) []string {
	switch {
	case e.At.Commit != "":
		return []string{"--at", e.At.Commit}
	case e.At.Version != 0 && e.At.Branch != "":
		return []string{"--branch", e.At.Branch, "--at", strconv.FormatUint(e.At.Version, 10)}
	case e.At.Version != 0:
		return []string{"--at", strconv.FormatUint(e.At.Version, 10)}
	case e.At.Branch != "":
		return []string{"--at", e.At.Branch}
	}
	return nil
}

// press is the first key of an action, for a text that tells to press it.
func press(e *Env, id action.ID) string {
	if k, _, _ := strings.Cut(e.Key(id), " "); k != "" {
		return k
	}
	return ":" + string(id)
}
