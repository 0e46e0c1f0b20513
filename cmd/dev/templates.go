package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/a-h/templ"
	"github.com/a-h/templ/generator"
	"github.com/a-h/templ/parser/v2"
	"github.com/a-h/templ/runtime"
)

// pagesPattern finds all templates, from the module's root.
const pagesPattern = "portal/*/*.templ"

var (
	component = regexp.MustCompile(`(?m)^func .*\) templ\.Component \{$`)
	texts     = regexp.MustCompile(`(?m)(WriteString\(templ_7745c5c3_Buffer, \d+, )".*"\)$|Line: \d+, Col: \d+`)
)

// source returns the Go code of a template, and its texts as templ's development mode reads them from a file.
//
// Each component is marked go:noinline: it is a call with one large closure, which the compiler would copy into every caller. Without the
// mark, portal took three times as long to compile and page twice (measured with -gcflags=-bench=FILE, Go 1.26).
func source(name string) (code, literals []byte, err error) {
	t, err := parser.Parse(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	out, err := generator.Generate(t, &b, generator.WithVersion(templ.Version()), generator.WithFileName(filepath.Base(name)))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if code, err = format.Source(component.ReplaceAll(b.Bytes(), []byte("//go:noinline\n$0"))); err != nil {
		return nil, nil, fmt.Errorf("%s: its Go code: %w", name, err)
	}
	return code, []byte(strings.Join(out.Literals, "\n")), nil
}

// goFile is the file with the code of a template.
func goFile(name string) string { return strings.TrimSuffix(name, ".templ") + "_templ.go" }

// templates generates code, and knows what it last generated.
type templates struct {
	logic map[string]string // by template: its code without texts and positions
	texts map[string][]byte // by template: texts that writeTexts has yet to write
}

func newTemplates() *templates { return &templates{map[string]string{}, map[string][]byte{}} }

// generate writes the code of templates that isn't up to date. It returns the files it wrote, and whether a server in development mode
// needs only the new texts, because the rest of the code is the same.
func (t *templates) generate(names ...string) (written []string, textOnly bool, err error) {
	textOnly = true
	for _, name := range names {
		code, literals, err := source(name)
		if err != nil {
			return written, false, err
		}
		wrote, err := writeChanged(goFile(name), code)
		if err != nil {
			return written, false, err
		}
		if wrote {
			written = append(written, goFile(name))
		}
		logic := string(texts.ReplaceAll(code, []byte("$1")))
		textOnly = textOnly && t.logic[name] == logic
		t.logic[name], t.texts[name] = logic, literals
	}
	return written, textOnly, nil
}

// writeTexts writes the texts for a server in development mode. The server's code must be the one that was generated with them.
func (t *templates) writeTexts() error {
	for name, literals := range t.texts {
		if _, err := writeChanged(runtime.GetDevModeTextFileName(name), literals); err != nil {
			return err
		}
	}
	clear(t.texts)
	return nil
}

// writeChanged writes a file unless it has that content, so that its time says when it changed.
func writeChanged(name string, content []byte) (bool, error) {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	return true, os.WriteFile(name, content, 0o644)
}

// generateAll generates all pages, and removes code whose template is gone.
func (t *templates) generateAll() (written []string, err error) {
	names, err := filepath.Glob(pagesPattern)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no file matches %s: run this in the module's root", pagesPattern)
	}
	if written, _, err = t.generate(names...); err != nil {
		return written, err
	}
	code, err := filepath.Glob(goFile(pagesPattern))
	if err != nil {
		return written, err
	}
	for _, name := range code {
		if _, err := os.Stat(strings.TrimSuffix(name, "_templ.go") + ".templ"); os.IsNotExist(err) {
			if err := os.Remove(name); err != nil {
				return written, err
			}
			written = append(written, name)
		}
	}
	return written, nil
}
