package app_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/app"
)

// TestErrorsAreOneSentence: however errors are wrapped, by which of our ways, a sentence that gets a cause behind it loses its dot, and one
// without a cause keeps it.
func TestErrorsAreOneSentence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SampledFrom([]string{"There is no room.", "cloud: create", "timed out", "The file \"a.b\" isn't there.", "EC2 answers: Busy. (Unavailable)", "Say 'x'.", "v1.2"})
		last := texts.Draw(t, "cause")
		err := errors.New(last)
		for range rapid.IntRange(0, 4).Draw(t, "wraps") {
			text := texts.Draw(t, "text")
			switch rapid.IntRange(0, 3).Draw(t, "way") {
			case 0:
				err = &app.Error{Code: app.ETimeout, Message: text, Err: err}
			case 1:
				err = app.Errorf(app.ETransient, "%s: %w", text, err)
			case 2:
				err = fmt.Errorf("%s: %w", text, err)
			case 3:
				err = app.Errorf(app.ECapacity, "%s: %v", text, err)
			}
		}
		e := &app.Error{Code: app.ECapacity, Message: texts.Draw(t, "first"), Err: err, Hint: "Wait."}
		for _, said := range []string{e.Error(), e.ForPeople(), e.Advised()} {
			if strings.Contains(said, ".: ") {
				t.Fatalf("two sentences are joined by a colon: %s", said)
			}
		}
		if !strings.HasSuffix(e.Error(), last) {
			t.Fatalf("%q lost its end, %q", e.Error(), last)
		}
	})
	// What only looks like a sentence stays as it is.
	for _, text := range []string{"lstat /srv/.: permission denied", "open .: no such file", "wait...: it goes on"} {
		if got := app.Errorf(app.EInternal, "%s", text).Error(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
