package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// How large things may be: what is read as one thing has to be remembered as one.
const (
	maxLines       = 6000 // hand-written lines of a package, without its tests
	maxFiles       = 60   // of a package, without tests and generated files
	maxOfInterface = 10   // methods of an interface, with those of the interfaces that it embeds
	maxOfType      = 40   // methods of a type
	maxOfFunction  = 120  // lines of a function
	usualFunction  = 40   // lines that 95 of 100 functions don't exceed
	maxColumns     = 160  // of a line, where a tab is one
)

// What is above a limit, and by how much today. None of it may grow, and what has become smaller has to be lowered here, or taken out.
var oversized = map[string]int{}

// usualToday is what 95 of 100 functions do not exceed now.
const usualToday = 40

// longLines is how many lines are longer than maxColumns.
const longLines = 1358

// sizes are what is measured: by name, such as "lines of app/store/db".
type sizes struct {
	figures   map[string]int
	limits    map[string]int
	functions []int
	long      int
}

func (s *sizes) note(name string, n, limit int) { s.figures[name], s.limits[name] = n, limit }

// measure reads every file that people write.
func measure(t *testing.T) *sizes {
	t.Helper()
	s := &sizes{figures: map[string]int{}, limits: map[string]int{}}
	interfaces := map[string]*ast.InterfaceType{} // by package and name
	imported := map[string]map[string]string{}    // by interface: package names and what they stand for
	for dir, p := range packages(t) {
		lines, files := 0, 0
		methods := map[string]int{}
		for _, name := range p.files {
			text, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text[:min(len(text), 200)], []byte("DO NOT EDIT")) {
				continue
			}
			files++
			for line := range bytes.Lines(text) {
				lines++
				if len([]rune(string(bytes.TrimRight(line, "\n")))) > maxColumns {
					s.long++
				}
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]string{}
			for _, im := range f.Imports {
				path := strings.TrimPrefix(strings.Trim(im.Path.Value, `"`), module+"/")
				name := path[strings.LastIndex(path, "/")+1:]
				if im.Name != nil {
					name = im.Name.Name
				}
				names[name] = path
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					n := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
					s.functions = append(s.functions, n)
					what := d.Name.Name
					if d.Recv != nil {
						on := receiver(d.Recv.List[0].Type)
						methods[on]++
						what = on + "." + what
					}
					s.note(fmt.Sprintf("lines of function %s in %s", what, dir), n, maxOfFunction)
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if ts, ok := spec.(*ast.TypeSpec); ok {
							if it, ok := ts.Type.(*ast.InterfaceType); ok {
								interfaces[dir+"."+ts.Name.Name] = it
								imported[dir+"."+ts.Name.Name] = names
							}
						}
					}
				}
			}
		}
		s.note("lines of "+dir, lines, maxLines)
		s.note("files of "+dir, files, maxFiles)
		for on, n := range methods {
			s.note(fmt.Sprintf("methods of %s in %s", on, dir), n, maxOfType)
		}
	}
	var all func(name string) map[string]bool
	all = func(name string) map[string]bool {
		found := map[string]bool{}
		it := interfaces[name]
		if it == nil {
			return found
		}
		dir := name[:strings.LastIndex(name, ".")]
		for _, m := range it.Methods.List {
			for _, id := range m.Names {
				found[id.Name] = true
			}
			switch e := m.Type.(type) {
			case *ast.Ident:
				maps.Copy(found, all(dir+"."+e.Name))
			case *ast.SelectorExpr:
				if x, ok := e.X.(*ast.Ident); ok {
					maps.Copy(found, all(imported[name][x.Name]+"."+e.Sel.Name))
				}
			}
		}
		return found
	}
	for name := range interfaces {
		i := strings.LastIndex(name, ".")
		s.note(fmt.Sprintf("methods of interface %s in %s", name[i+1:], name[:i]), len(all(name)), maxOfInterface)
	}
	return s
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func TestSizes(t *testing.T) {
	s := measure(t)
	over := map[string]int{}
	for name, n := range s.figures {
		if n > s.limits[name] {
			over[name] = n
		}
		switch known := oversized[name]; {
		case n > max(known, s.limits[name]):
			t.Errorf("%s: %d, more than %d. Split it, such as by moving a type with its files to a package of its own (limits: cmd/size_test.go)", name, n, max(known, s.limits[name]))
		case known > s.limits[name] && n < known:
			t.Errorf("%s: %d, which is less than the %d that the table says. Lower it there, or take it out.", name, n, known)
		}
	}
	for name := range oversized {
		if _, there := s.figures[name]; !there {
			t.Errorf("%s is in the table, and isn't there. Take it out.", name)
		}
	}
	slices.Sort(s.functions)
	if p95 := s.functions[len(s.functions)*95/100]; p95 > max(usualFunction, usualToday) {
		t.Errorf("95 of 100 functions have up to %d lines, more than %d", p95, usualFunction)
	}
	if s.long > longLines {
		t.Errorf("%d lines are longer than %d columns, more than %d", s.long, maxColumns, longLines)
	}
	// The figures, for who wants to see them: go test ./cmd -run TestSizes -v
	t.Logf("%d packages, %d functions, 95 of 100 up to %d lines, the longest %d; %d lines above %d columns",
		len(packages(t)), len(s.functions), s.functions[len(s.functions)*95/100], s.functions[len(s.functions)-1], s.long, maxColumns)
	for _, what := range []string{"lines of ", "files of ", "methods of interface ", "methods of "} {
		var names []string
		for name := range s.figures {
			if strings.HasPrefix(name, what) && !strings.HasPrefix(name, "lines of function") && (what != "methods of " || !strings.HasPrefix(name, "methods of interface")) {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(s.figures[b]-s.figures[a], strings.Compare(a, b)) })
		for _, name := range names[:min(len(names), 8)] {
			t.Logf("%s: %d", name, s.figures[name])
		}
	}
	if testing.Verbose() {
		for _, name := range slices.Sorted(maps.Keys(over)) {
			t.Logf("\t%q: %d,", name, over[name])
		}
	}
}
