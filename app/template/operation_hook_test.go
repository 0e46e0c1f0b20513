package template

import (
	"os"
	"slices"
	"strings"
	"testing"

	"muster/app"
)

// TestHooksNameEveryKindOfOperation: every kind there are words for can be chosen by a hook, and the docs tell of it.
func TestHooksNameEveryKindOfOperation(t *testing.T) {
	doc, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for k := range app.KindWords {
		h := OperationHook{Name: "ask", When: HookBefore, Operations: []app.OperationKind{k}, SendTo: "cmdb"}
		if e := h.Check(); e != nil {
			t.Errorf("a hook before a %s: %v", k, e)
		}
		if !h.Wants(k) || !strings.Contains(string(doc), "`"+string(k)+"`") {
			t.Errorf("%s cannot be chosen, or docs/hooks.md does not tell of it", k)
		}
	}
	if all := allOperations(); len(all) != len(app.KindWords) || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
		t.Errorf("hooks can choose from %v", all)
	}
}

// TestScriptsOfAAcceptPartial: a script that is about it alone would never run, so no one can ask for it; one after any operation runs in it.
func TestScriptsOfAAcceptPartial(t *testing.T) {
	h := OperationHook{Name: "warm", When: HookAfter, Operations: []app.OperationKind{app.OperationCreate, app.OperationAcceptPartial}, Script: "true"}
	if e := h.Check(); e == nil || e.Code != app.EInvalid || e.Field != "operations" || !strings.Contains(e.Hint, "create and resize") {
		t.Errorf("a script of an accepted partial result: %v", e)
	}
	h.Operations = nil
	if e := h.Check(); e != nil || len(Scripts([]OperationHook{h}, app.OperationAcceptPartial)) != 1 {
		t.Errorf("a script after all operations: %v", e)
	}
}
