package bot

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestNewPanicsWithoutAUseCase(t *testing.T) {
	for i := range reflect.TypeFor[UseCases]().NumField() {
		c := new(stub).config(slog.New(slog.DiscardHandler))
		v := reflect.ValueOf(&c.UseCases).Elem()
		v.Field(i).SetZero()
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, v.Type().Field(i).Name) {
					t.Errorf("without %s it says %q", v.Type().Field(i).Name, text)
				}
			}()
			New(c)
		}()
	}
}

// TestEveryButtonHasAHandler finds all actions and checks that each has a handler.
func TestEveryButtonHasAHandler(t *testing.T) {
	b := New(new(stub).config(slog.New(slog.DiscardHandler)))
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.ValueSpec)
			if !ok || len(c.Values) != 1 || len(c.Names[0].Name) < 3 || !strings.HasPrefix(c.Names[0].Name, "do") || !ast.IsExported(c.Names[0].Name[2:]) {
				return true
			}
			if lit, ok := c.Values[0].(*ast.BasicLit); ok {
				do, _ := strconv.Unquote(lit.Value)
				if known[do] = true; b.actions[do] == nil && do != doLink { // which is done for those who are not linked yet
					t.Errorf("%s has no handler: add it to the actions of join in bot/command.go", c.Names[0].Name)
				}
			}
			return true
		})
	}
	for do := range b.actions {
		if !known[do] {
			t.Errorf("no button does %q: its constant isn't in this package, or join in bot/command.go has it needlessly", do)
		}
	}
	if len(known) < 15 {
		t.Errorf("only %d actions were found", len(known))
	}
}

func TestEveryCommandIsInTheDocs(t *testing.T) {
	const page = "../docs/slack.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range New(new(stub).config(slog.New(slog.DiscardHandler))).commands {
		if !regexp.MustCompile("`(/muster )?" + c.name + "[` ]").Match(text) {
			t.Errorf("%s doesn't have the command %s: add it to the table under Commands", page, c.name)
		}
	}
}
