package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTemplatesAreFresh generates all pages and compares.
func TestTemplatesAreFresh(t *testing.T) {
	t.Chdir("../..")
	names, err := filepath.Glob(pagesPattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no templates: %v", err)
	}
	for _, name := range names {
		fresh, _, err := source(name)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(goFile(name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fresh, committed) {
			t.Errorf("%s isn't what %s generates. Run make generate.", goFile(name), name)
		}
	}
	if code, _ := filepath.Glob(goFile(pagesPattern)); len(code) != len(names) {
		t.Errorf("%d generated files for %d templates. Run make generate.", len(code), len(names))
	}
}

const (
	oldPage = "package p\n\ntempl Hello(name string) {\n\t<p>Hello { name }</p>\n}\n"
	newText = "package p\n\ntempl Hello(name string) {\n\t<p>Welcome { name }</p>\n}\n"
	newCode = "package p\n\ntempl Hello(name string) {\n\t<p>Welcome { name + name }</p>\n}\n"
)

// A changed text needs no build; changed code does.
func TestChangedTextNeedsNoBuild(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TEMPL_DEV_MODE_ROOT", dir)
	name := filepath.Join(dir, "hello.templ")
	pages := newTemplates()
	for _, c := range []struct {
		content  string
		written  int
		textOnly bool
	}{{oldPage, 1, false}, {oldPage, 0, true}, {newText, 1, true}, {newCode, 1, false}} {
		if err := os.WriteFile(name, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		written, textOnly, err := pages.generate(name)
		if err != nil || len(written) != c.written || textOnly != c.textOnly {
			t.Errorf("%q: wrote %q, text only %v (%v)", c.content, written, textOnly, err)
		}
	}
	if err := pages.writeTexts(); err != nil {
		t.Fatal(err)
	}
	if texts, _ := filepath.Glob(filepath.Join(dir, "templ_*.txt")); len(texts) != 1 {
		t.Errorf("files with texts: %q", texts)
	}
	if err := os.WriteFile(name, []byte("package p\n\ntempl Hello( {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := pages.generate(name); err == nil {
		t.Error("a broken template is accepted")
	}
}
