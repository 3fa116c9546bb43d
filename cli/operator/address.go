package operator

import (
	"errors"
	"fmt"
	"strings"
)

// Address is what a command line says about the graph that it means.
type Address struct {
	URI     string // positional, or --uri
	Store   string // --store
	Profile string // --profile
}

// ErrNone: nothing says which graph is meant.
var ErrNone = errors.New("no graph addressed: give its URI, or --store URI, or --profile NAME, or set defaults.store in the operator file")

// Resolve finds the graph: a URI or --store, then --profile or
// OMNIGRAPH_PROFILE, then defaults.store.
func (c *Config) Resolve(a Address, getenv func(string) string) (string, error) {
	switch {
	case a.URI != "" && a.Store != "":
		return "", errors.New("a positional URI and --store are mutually exclusive: name the graph once")
	case a.URI != "":
		return direct(a.URI, "the URI")
	case a.Store != "":
		return direct(a.Store, "--store")
	}
	source := "--profile"
	if a.Profile == "" {
		a.Profile, source = getenv("OMNIGRAPH_PROFILE"), "OMNIGRAPH_PROFILE"
	}
	if a.Profile != "" {
		return c.profile(a.Profile, source)
	}
	if s := c.Defaults.Server; s != "" {
		return "", fmt.Errorf("defaults.server names the server %q, and omnideck opens storage without a server: give the graph's URI or --store URI", s)
	}
	if c.Defaults.Store != "" {
		return direct(c.Defaults.Store, "defaults.store")
	}
	return "", ErrNone
}

func (c *Config) profile(name, source string) (string, error) {
	p, ok := c.Profiles[name]
	if !ok {
		return "", fmt.Errorf("%s names the profile %q, which %s does not define", source, name, c.place())
	}
	if p == nil {
		p = &Profile{}
	}
	var bound []string
	for _, b := range []struct{ kind, value string }{{"server", p.Server}, {"cluster", p.Cluster}, {"store", p.Store}} {
		if b.value != "" {
			bound = append(bound, b.kind)
		}
	}
	switch {
	case len(bound) == 0:
		return "", fmt.Errorf("the profile %q binds nothing, expected exactly one of server, cluster and store", name)
	case len(bound) > 1:
		return "", fmt.Errorf("the profile %q binds %s, expected exactly one of server, cluster and store", name, strings.Join(bound, " and "))
	case bound[0] != "store":
		return "", fmt.Errorf("the profile %q binds a %s, and omnideck opens storage directly: give the graph's URI or --store URI", name, bound[0])
	}
	return direct(p.Store, fmt.Sprintf("the profile %q", name))
}

func (c *Config) place() string {
	if c.Path == "" {
		return "no operator file"
	}
	return c.Path
}

// direct refuses the address of a server.
func direct(uri, source string) (string, error) {
	scheme, _, ok := strings.Cut(uri, "://")
	if ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		return "", fmt.Errorf("%s names a server (%s), and omnideck opens storage without one: give a folder, or s3://, gs:// or azblob://", source, uri)
	}
	return uri, nil
}
