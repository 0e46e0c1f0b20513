package webhook

import (
	"os"
	"slices"
	"strings"
	"testing"

	"muster/app"
)

// Every kind of notification has words on the pages, and a line in the docs.
func TestEveryKindOfNoticeIsExplained(t *testing.T) {
	docs, err := os.ReadFile("../../docs/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range append(slices.Clone(app.NoticeKinds), app.NoticeTest) {
		if word := NoticeWord(k); word == string(k) && k != app.NoticeTest {
			t.Errorf("pages call notifications of kind %s %q", k, word)
		}
		if !strings.Contains(string(docs), "\n| `"+string(k)+"` | ") {
			t.Errorf("docs/notifications.md has no line for the kind %s", k)
		}
	}
}
