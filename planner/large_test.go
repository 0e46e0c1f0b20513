package planner_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"muster/app/plan"
	"muster/planner"
)

// large is a cluster of many equal nodes, eight steps each and every service on every node, whose configuration names
// all addresses.
func large(t testing.TB, nodes int) plan.Request {
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
		t.Errorf("equal nodes are not listed once: %v\n%.2000s", err, text.String())
	}
}

// grown is a cluster of 2,000 nodes that grows by 500, and whose services all read the new addresses.
func grown(t testing.TB) plan.Request {
	return parseProblem(t, `
		kind resize
		batch 100
		service base actions=install
		service store install.requires=base actions=install,configure,start,stop health=yes
		service app install.requires=base runtime.requires=store actions=install,configure,start,reload,stop health=yes
		node x2000 base store=reload app=reload
		new x500 base store app
		config peers %host.service.app%
		config stores %ip.service.store%`)
}

func TestEdgesOfUpdatesGrowWithStepsOnly(t *testing.T) {
	r := grown(t)
	begin := time.Now()
	p, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	edges := 0
	for _, s := range p.Steps {
		edges += len(s.Needs)
	}
	if p.Acts() != 2000*7+500*12 || edges > 3*len(p.Steps) {
		t.Errorf("%d acts, %d steps, %d edges", p.Acts(), len(p.Steps), edges)
	}
	if took > 2*time.Minute { // a tenth of a second where nothing else runs
		t.Errorf("it took %s", took)
	}
	var text bytes.Buffer
	if err := planner.Text(&text, p); err != nil || strings.Count(text.String(), "\n") > 600 {
		t.Errorf("equal nodes are not listed once: %v\n%.2000s", err, text.String())
	}
}

func TestEdgesOfRollBacksGrowWithStepsOnly(t *testing.T) {
	for _, batch := range []int{0, 1, 100} {
		r := grown(t)
		r.Batch = batch
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = planner.New().Plan(failedAt(t, r, p.Steps[len(p.Steps)-1].ID)); err != nil {
			t.Fatal(err)
		}
		edges := 0
		for _, s := range p.Steps {
			edges += len(s.Needs)
		}
		// On each old node the store is configured, stopped and started, and the load on it configured and loaded again; new machines go.
		if p.Acts() != 2000*5+500 || edges > 3*len(p.Steps) {
			t.Errorf("in batches of %d: %d acts, %d steps, %d edges", batch, p.Acts(), len(p.Steps), edges)
		}
		if long := p.Duration(); batch != 1 && long > time.Hour {
			t.Errorf("in batches of %d it takes %s", batch, long)
		}
	}
}

func BenchmarkUpdate2500Nodes(b *testing.B) {
	r := grown(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.New().Plan(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdateOneByOne is the same with 2,000 batches of one node.
func BenchmarkUpdateOneByOne(b *testing.B) {
	r := grown(b)
	r.Batch = 1
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.New().Plan(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRollBack2500Nodes undoes the same when nearly all of it is done.
func BenchmarkRollBack2500Nodes(b *testing.B) {
	r := grown(b)
	p, err := planner.New().Plan(r)
	if err != nil {
		b.Fatal(err)
	}
	r = failedAt(b, r, p.Steps[len(p.Steps)-1].ID)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.New().Plan(r); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDrawingReturnsWriteErrors(t *testing.T) {
	p, err := planner.New().Plan(large(t, 300))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for name, draw := range map[string]func(io.Writer, plan.Plan) error{"Text": planner.Text, "Dot": planner.Dot} {
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
	for name, draw := range map[string]func(io.Writer, plan.Plan) error{"text": planner.Text, "dot": planner.Dot} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := draw(io.Discard, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
