package manifest

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// What is read without the parser is what the parser reads, and nothing passes
// that it refuses.
func TestPlainMetadata(t *testing.T) {
	seeds := []string{
		`{"parent_commit_id":"01KB7Q0V1S3F8D1Y3J8E0Z5T60","merged_parent_commit_id":"x","actor_id":"ann","created_at":1795964900000000}`,
		`{"parent_commit_id":null,"actor_id":"","created_at":-12,"more":"\"x\\"}`, `{"created_at":0}`, `{"created_at":-0}`, `{"created_at":01}`, `{}`, `{`,
		`{"created_at":9223372036854775807,"actor_id":null}`, `{"created_at":1,"created_at":2}`, `{"created_at":null}`, `{"created_at":1,"n":nullx}`,
		`{"manifest_path":"a/b","manifest_size":998,"e_tag":"\"566359c5\"","naming_scheme":"V2"}`, `{"manifest_path":"","manifest_size":null,"e_tag":null,"naming_scheme":null}`,
		`{"manifest_path":"m","manifest_size":-1}`, `{"manifest_path":7}`, `{"e_tag":"x"}`, `{"manifest_path":"\u0041"}`, `{"manifest_path":"a","manifest_path":"b"}`,
	}
	r := rand.New(rand.NewPCG(3, 4))
	plain := 0
	for i := range 200_000 {
		text := []byte(seeds[i%len(seeds)])
		for range r.IntN(3) {
			const bytes = `{}",:\ -0159nulxé` + "\x00"
			k, b := r.IntN(len(text)), bytes[r.IntN(len(bytes))]
			switch r.IntN(3) {
			case 0:
				text[k] = b
			case 1:
				text = append(text[:k], append([]byte{b}, text[k:]...)...)
			default:
				text = append(text[:k:k], text[min(k+1, len(text)):]...)
			}
			if len(text) == 0 {
				text = []byte("{")
			}
		}
		if plainVersion(string(text)) {
			plain++
			if _, err := parseTableMeta(string(text)); err != nil {
				t.Fatalf("%s passes, the parser says %v", text, err)
			}
		}
		got := Commit{ID: "id"}
		if plainCommit(string(text), &got) {
			plain++
			want := Commit{ID: "id"}
			if err := readCommitMeta(string(text), &want); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s is read as %+v, the parser reads %+v, %v", text, got, want, err)
			}
		}
	}
	if plain < 20_000 {
		t.Errorf("only %d of 200 000 texts were plain", plain)
	}
}
