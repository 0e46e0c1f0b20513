package solver

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

func TestReferenceCases(t *testing.T) {
	examples := referenceExamples(t)
	if examples == nil {
		t.Skip("no reference beside this checkout")
	}
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) { e.check(t) })
	}
}

func (e *example) check(t *testing.T) {
	t.Helper()
	got, err := New().Solve(context.Background(), e.catalog, e.request)
	if e.kind != "" {
		e.checkRefusal(t, got, err)
		return
	}
	if err != nil {
		t.Fatalf("got %v\nwant %s", err, inWords(e.groups))
	}
	if got.Size() != e.request.Size {
		t.Errorf("got %d nodes, want %d", got.Size(), e.request.Size)
	}
	if problem := broken(e.catalog, e.request, got); problem != "" {
		t.Errorf("layout breaks a constraint: %s\n%s", problem, inWords(got.Groups))
	}
	if !e.any && inWords(got.Groups) != inWords(e.groups) {
		t.Errorf("got\n%s\nwant\n%s", inWords(got.Groups), inWords(e.groups))
	}
}

func (e *example) checkRefusal(t *testing.T, got layout.Layout, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("got\n%s\nwant %s: %s", inWords(got.Groups), e.kind, e.message)
	}
	is := app.AsError(err)
	if is.Reason != e.kind {
		t.Errorf("got kind %s (%s), want %s", is.Reason, is.Message, e.kind)
	}
	want := e.message
	var low, high, size int
	if n, _ := fmt.Sscanf(want, "Size must be at least %d but not greater than %d. Now it's %d", &low, &high, &size); n == 3 {
		want = template.SizeRange{Min: low, Max: high}.Refusal(size) // Coopr's words for it are a riddle; the numbers have to be the same
	}
	want = ourWords.Replace(want)
	if want != "" && sortedLines(is.Message) != sortedLines(want) {
		t.Errorf("got message\n%s\nwant\n%s", is.Message, want)
	}
	code := app.EInvalid
	switch e.kind {
	case request.MissingTemplate, request.MissingProvider, request.MissingService:
		code = app.ENotFound
	case request.NoSolution:
		code = app.ENoLayout
	}
	if is.Code != code {
		t.Errorf("got code %s, want %s", is.Code, code)
	}
}

// ourWords puts our words for Coopr's into the messages of the reference: what they name has to be the same.
var ourWords = strings.NewReplacer("does not exist", "doesn't exist",
	"which is not on the cluster or in the list of services to add", "which isn't on the cluster",
	"cluster size must be greater than 0", "Choose at least 1 node (you entered 0)")

func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// inWords writes groups one to a line.
func inWords(groups []layout.NodeGroup) string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "%d %s %s %s\n", g.Count, g.Hardware, g.Image, strings.Join(g.Services, " "))
	}
	return b.String()
}

// broken returns the first constraint that a layout breaks, read off the template without the solver's help; "" if none.
func broken(c *template.Catalog, r layout.Request, l layout.Layout) string {
	t := c.Templates[r.Template]
	services := r.Services
	if len(services) == 0 {
		services = t.Defaults.Services
	}
	count := map[string]int{}
	for _, g := range l.Groups {
		if len(g.Services) == 0 || g.Count < 1 {
			return "empty group"
		}
		for _, s := range g.Services {
			count[s] += g.Count
			sc := t.Constraints.Services[s]
			if len(sc.Hardware) > 0 && !slices.Contains(sc.Hardware, g.Hardware) ||
				len(sc.Images) > 0 && !slices.Contains(sc.Images, g.Image) || !slices.Contains(services, s) {
				return s + " is where it may not be"
			}
		}
		for _, group := range t.Constraints.MustCoexist {
			here, asked := 0, 0
			for _, s := range group {
				here += b2n(slices.Contains(g.Services, s))
				asked += b2n(slices.Contains(services, s))
			}
			if here != 0 && here != asked {
				return fmt.Sprint("must coexist ", group)
			}
		}
		for _, group := range t.Constraints.CantCoexist {
			if len(group) > 0 && !slices.ContainsFunc(group, func(s string) bool { return !slices.Contains(g.Services, s) }) {
				return fmt.Sprint("can't coexist ", group)
			}
		}
	}
	for _, s := range services {
		sc, written := t.Constraints.Services[s]
		if written && count[s] > sc.Max || count[s] < sc.Min || count[s] < 1 && !(sc.MinSet && sc.Min == 0) {
			return fmt.Sprintf("%s is on %d nodes", s, count[s])
		}
	}
	return ""
}
