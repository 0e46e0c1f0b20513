//go:build real

package examples_test

import "testing"

// TestShellcheckFindsNothing runs shellcheck on every script of the catalog.
func TestShellcheckFindsNothing(t *testing.T) {
	t.Parallel()
	if found := shellcheck(t.Context(), t, scripts(t, load(t))); found != "" {
		t.Error(found)
	}
	if found := shellcheck(t.Context(), t, map[string]string{"wrong": "if [ $x = 1 ; then echo; fi\n"}); found == "" {
		t.Error("shellcheck misses an error")
	}
}
