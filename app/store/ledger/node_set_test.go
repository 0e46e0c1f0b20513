package ledger

import (
	"encoding/json"
	"maps"
	"testing"

	"muster/app/store/db"
	"pgregory.net/rapid"
)

// What is read the short way is what the JSON says.
func TestPlainTexts(t *testing.T) {
	letters := rapid.StringOf(rapid.SampledFrom([]rune(`ab:.",{} \é<` + "\n")))
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(letters, letters).Draw(t, "addresses")
		got, plain := plainTexts(db.JSON(want))
		if plain && !maps.Equal(got, want) {
			t.Fatalf("%s is read as %q", db.JSON(want), got)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`a:",{} \`+"\n"))).Draw(t, "text")
		got, plain := plainTexts(text)
		if !plain {
			return
		}
		var want map[string]string
		if err := json.Unmarshal([]byte(text), &want); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%s is read as %q, which is %q (%v)", text, got, want, err)
		}
	})
	for text, want := range map[string]bool{`{"access_v4":"10.0.0.1","bind_v4":"10.0.0.1"}`: true, `{"a":"b"}`: true, `{}`: false, `{"a":1}`: false,
		`{"a":"b",}`: false, `{"a":"b"}}`: false, `{"a":"b"`: false, `{"a": "b"}`: false, `["a"]`: false, `{"a":"\u0062"}`: false, ``: false, `null`: false} {
		if _, plain := plainTexts(text); plain != want {
			t.Errorf("%s: %v", text, plain)
		}
	}
}
