package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster/cmd/demodata"
)

// today is the day of the demo data.
var today = time.Date(2026, 10, 20, 14, 30, 0, 0, time.UTC)

var portalScenarios = []scenario{
	{"portal: first byte", func(ctx context.Context, add func(line)) error {
		return firstBytes(ctx, "", add)
	}},
	{"portal: first byte on PostgreSQL", func(ctx context.Context, add func(line)) error {
		where := os.Getenv("MUSTER_BENCH_POSTGRES")
		if where == "" {
			fmt.Fprintln(os.Stderr, "bench: MUSTER_BENCH_POSTGRES isn't an empty database, so first bytes are only measured on SQLite")
			return nil
		}
		return firstBytes(ctx, where, add)
	}},
	{"portal: 500 live pages of one cluster", func(ctx context.Context, add func(line)) error { return livePages(ctx, 500, 1, "", add) }},
	{"portal: 500 live pages of 500 clusters", func(ctx context.Context, add func(line)) error {
		return livePages(ctx, 500, 500, "", add)
	}},
	{"portal: 500 live pages of a list", func(ctx context.Context, add func(line)) error {
		return livePages(ctx, 500, listed, "/clusters", add)
	}},
	{"API: 1,000 reads a second", func(ctx context.Context, add func(line)) error { return apiReads(ctx, "", add) }},
}

// crowded opens demo data with so many times the clusters of a company, on a SQLite file of its own where no database is given.
func crowded(ctx context.Context, where string, times int) (h *demodata.Instance, leave func(), err error) {
	dir, err := os.MkdirTemp("", "muster-demodata")
	if err != nil {
		return nil, nil, err
	}
	leave = func() { _ = os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if where == "" {
		where = filepath.Join(dir, "muster.db")
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if h, err = demodata.Open(ctx, where, demodata.NewClock(today), log); err != nil {
		return nil, nil, err
	}
	if err = h.Populate(ctx, today); err == nil && times > 0 {
		if err = h.Multiply(ctx, times); err == nil {
			if err = h.Close(); err == nil {
				h, err = demodata.Open(ctx, where, demodata.NewClock(today), log)
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return h, func() { _ = h.Close(); _ = os.RemoveAll(dir) }, nil
}

// opened is what a page took.
type opened struct {
	page          demodata.Page
	median, worst time.Duration
	sent, size    int
}

const (
	timesOfPages   = 400 // 10,000 clusters
	looksAtPages   = 9
	firstByteLimit = 50 // ms
)

// firstBytes opens every page as someone who may see all, in a tenant with 10,000 clusters.
func firstBytes(ctx context.Context, where string, add func(line)) error {
	h, leave, err := crowded(ctx, where, timesOfPages)
	if err != nil {
		return err
	}
	defer leave()
	site, err := h.Serve(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = site.Close() }()
	v, err := site.SignIn(ctx, demodata.Operator)
	if err != nil {
		return err
	}
	pages, err := h.Pages(ctx)
	if err != nil {
		return err
	}
	var all []opened
	for _, p := range append([]demodata.Page{{Pattern: "/signin", Address: "/signin"}}, pages...) {
		o := opened{page: p}
		var took []time.Duration
		for range looksAtPages {
			f, err := v.Get(ctx, p.Address)
			if err != nil {
				return err
			}
			if f.Status >= 500 {
				return fmt.Errorf("%s returns %d: %.200s", p.Address, f.Status, f.Body)
			}
			took = append(took, f.FirstByte)
			o.sent, o.size = f.Sent, len(f.Body)
		}
		slices.Sort(took)
		o.median, o.worst = took[len(took)/2], took[len(took)-1]
		all = append(all, o)
	}
	name := "SQLite"
	if where != "" {
		name = "PostgreSQL"
	}
	reference := all[0]
	slowest := slices.MaxFunc(all, func(a, b opened) int { return cmp.Compare(a.median, b.median) })
	heaviest := slices.MaxFunc(all, func(a, b opened) int { return cmp.Compare(a.sent, b.sent) })
	add(line{fmt.Sprintf("first byte of %d pages with 10,000 clusters on %s, the slowest", len(all), name), milliseconds(slowest.median), "ms", firstByteLimit, slowest.page.Pattern})
	add(line{" an empty page, for comparison", milliseconds(reference.median), "ms", 0, fmt.Sprintf("worst of %d requests: %s ms", looksAtPages, fine(milliseconds(reference.worst)))})
	add(line{" the heaviest page, as sent", float64(heaviest.sent) / 1024, "KB", 60, heaviest.page.Pattern})
	slices.SortFunc(all, func(a, b opened) int { return cmp.Compare(b.median, a.median) })
	for _, o := range all {
		add(line{"  " + o.page.Pattern, milliseconds(o.median), "ms", 0, fmt.Sprintf("worst %s ms; %s KB compressed, %s KB uncompressed", fine(milliseconds(o.worst)), fine(float64(o.sent)/1024), fine(float64(o.size)/1024))})
	}
	return nil
}
