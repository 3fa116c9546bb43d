package manifest

import "github.com/omnideck/omnideck/internal/ojson"

// Row metadata are compact JSON objects. Members beyond the known ones are
// ignored; null counts as absent.
//
//	table_version  {"manifest_path":s,"manifest_size":n|null,"e_tag":s|null,"naming_scheme":s|null}
//	graph_commit   {"parent_commit_id":s?,"merged_parent_commit_id":s?,"actor_id":s?,"created_at":µs}
//	graph_head     {"head_commit_id":s,"parent_commit_id":s?}

func openMetadata(text string) (ojson.Fields, *ojson.Reader, error) {
	v, err := ojson.Parse([]byte(text))
	if err != nil {
		return ojson.Fields{}, nil, err
	}
	r := new(ojson.Reader)
	return r.Open(v, ""), r, nil
}

func parseTableMeta(text string) (TableMeta, error) {
	f, r, err := openMetadata(text)
	if err != nil {
		return TableMeta{}, err
	}
	return TableMeta{
		ManifestPath: f.Str("manifest_path"),
		ManifestSize: f.OptUint("manifest_size"),
		ETag:         f.OptStr("e_tag"),
		NamingScheme: f.OptStr("naming_scheme"),
	}, r.Err()
}

// parseCommitMeta reads the metadata of a commit. Its texts may be parts of text.
func parseCommitMeta(text string, c *Commit) error {
	if plainCommit(text, c) {
		return nil
	}
	return readCommitMeta(text, c)
}

func readCommitMeta(text string, c *Commit) error {
	f, r, err := openMetadata(text)
	if err != nil {
		return err
	}
	c.Parent = orEmpty(f.OptStr("parent_commit_id"))
	c.MergedParent = orEmpty(f.OptStr("merged_parent_commit_id"))
	c.Actor = f.OptStr("actor_id")
	c.CreatedAt = f.Int("created_at")
	return r.Err()
}

func parseHeadMeta(text string) (commit string, err error) {
	f, r, err := openMetadata(text)
	if err != nil {
		return "", err
	}
	commit = f.Str("head_commit_id")
	f.OptStr("parent_commit_id")
	return commit, r.Err()
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
