//go:build real

package examples_test

import "testing"

// TestShellcheckFindsNothing holds every script of the catalog to what shellcheck knows of shells.
func TestShellcheckFindsNothing(t *testing.T) {
	t.Parallel()
	if found := shellcheck(t.Context(), t, scripts(t, load(t))); found != "" {
		t.Error(found)
	}
	if found := shellcheck(t.Context(), t, map[string]string{"wrong": "if [ $x = 1 ; then echo; fi\n"}); found == "" {
		t.Error("shellcheck finds nothing in what is wrong")
	}
}
