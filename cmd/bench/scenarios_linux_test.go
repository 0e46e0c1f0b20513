package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPortalScenarios(t *testing.T) {
	t.Parallel()
	filled := filepath.Join(t.TempDir(), "muster.db")
	if err := fill(t.Context(), filled, short.copies); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filled)
	if err != nil {
		t.Fatal(err)
	}
	measureShort(t, true, func(t *testing.T) string {
		file := filepath.Join(t.TempDir(), "muster.db")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}, portalScenarios)
}

func TestScenariosFillTheirOwnDatabase(t *testing.T) {
	h, leave, err := (&bench{}).crowded(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if all, err := h.Pages(t.Context()); err != nil || len(all) == 0 {
		t.Errorf("%d pages, %v", len(all), err)
	}
	if _, _, err := (&bench{where: filepath.Join(t.TempDir(), "missing", "muster.db")}).crowded(t.Context(), 1); err == nil {
		t.Error("there's no error for a database that can't be opened")
	}
}
