package planner_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"muster/app"
	"muster/planner"
)

// large is a cluster of many equal nodes, eight steps each and every service on every node, whose configuration names
// all addresses.
func large(t testing.TB, nodes int) app.PlanRequest {
	return parseProblem(t, fmt.Sprintf(`
		service base actions=install
		service store install.requires=base actions=install,start
		service app install.requires=base runtime.requires=store actions=install,start
		node x%d base store app
		config peers %%host.service.app%%
		config stores %%ip.service.store%%`, nodes))
}

func TestEdgesGrowWithStepsOnly(t *testing.T) {
	p, err := planner.New().Plan(large(t, 2000))
	if err != nil {
		t.Fatal(err)
	}
	edges := 0
	for _, s := range p.Steps {
		edges += len(s.Needs)
	}
	if p.Acts() != 2000*8 || edges > 3*len(p.Steps) {
		t.Errorf("%d acts, %d steps, %d edges", p.Acts(), len(p.Steps), edges)
	}
	var text bytes.Buffer
	if err := planner.Text(&text, p); err != nil || strings.Count(text.String(), "\n") > 40 {
		t.Errorf("equal nodes are not told once: %v\n%.2000s", err, text.String())
	}
}

func TestDrawingsGiveTheWritersError(t *testing.T) {
	p, err := planner.New().Plan(large(t, 300))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for name, draw := range map[string]func(io.Writer, app.Plan) error{"Text": planner.Text, "Dot": planner.Dot} {
		r, w := io.Pipe()
		r.CloseWithError(full)
		if err := draw(w, p); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkPlan10000Nodes(b *testing.B) {
	r := large(b, 10000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.New().Plan(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDraw10000Nodes(b *testing.B) {
	p, err := planner.New().Plan(large(b, 10000))
	if err != nil {
		b.Fatal(err)
	}
	for name, draw := range map[string]func(io.Writer, app.Plan) error{"text": planner.Text, "dot": planner.Dot} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := draw(io.Discard, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
