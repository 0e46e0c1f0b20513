package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/cmd/demodata"
)

// today is the day of the demo data.
var today = time.Date(2026, 10, 20, 14, 30, 0, 0, time.UTC)

var portalScenarios = []scenario{
	{"portal: first byte", firstBytes},
	{"portal: first byte on PostgreSQL", func(ctx context.Context, b *bench) error {
		where := os.Getenv("MUSTER_BENCH_POSTGRES")
		if where == "" {
			b.leftOut("portal: first byte on PostgreSQL", "MUSTER_BENCH_POSTGRES isn't the URL of an empty database")
			return nil
		}
		on := *b
		on.where, on.filled = where, false
		defer func() { b.over, b.failed = on.over, on.failed }()
		return firstBytes(ctx, &on)
	}},
	{"portal: 500 live pages of one cluster", func(ctx context.Context, b *bench) error { return livePages(ctx, b, 1, "") }},
	{"portal: 500 live pages of 500 clusters", func(ctx context.Context, b *bench) error { return livePages(ctx, b, b.pages, "") }},
	{"portal: 500 live pages of a list", func(ctx context.Context, b *bench) error { return livePages(ctx, b, listed, "/clusters") }},
	{"API: 1,000 reads a second", apiReads},
}

// clustersOfCompany is about how many the demo data has.
const clustersOfCompany = 25

// crowded opens demo data with so many times the clusters of a company, in the database of the bench, or on a SQLite file of its own if none is
// given. Leave deletes that file; if there's an error, there's nothing to leave.
func (b *bench) crowded(ctx context.Context, times int) (h *demodata.Instance, leave func(), err error) {
	dir, err := os.MkdirTemp("", "muster-demodata")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	where := cmp.Or(b.where, filepath.Join(dir, "muster.db"))
	if !b.filled {
		err = fill(ctx, where, times)
	}
	if err == nil {
		h, err = openData(ctx, where)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return h, func() { _ = h.Close(); remove() }, nil
}

func openData(ctx context.Context, where string) (*demodata.Instance, error) {
	return demodata.Open(ctx, where, demodata.NewClock(today), slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// fill writes the demo data to an empty database. It has to be opened again, since what is kept in memory doesn't know of copies.
func fill(ctx context.Context, where string, times int) error {
	h, err := openData(ctx, where)
	if err != nil {
		return err
	}
	if err = h.Populate(ctx, today); err == nil {
		err = h.Multiply(ctx, times)
	}
	return errors.Join(err, h.Close())
}

// opened is what a page took.
type opened struct {
	page          demodata.Page
	median, worst time.Duration
	sent, size    int
}

const firstByteLimit = 50 // ms

// firstBytes opens every page as someone who may see all, in a tenant with 10,000 clusters.
func firstBytes(ctx context.Context, b *bench) error {
	h, leave, err := b.crowded(ctx, b.copies)
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
	pages = slices.DeleteFunc(pages, func(p demodata.Page) bool { return p.OnMachine() || p.Pattern == "/signin" })
	for _, p := range append([]demodata.Page{{Pattern: "/signin", Address: "/signin"}}, pages...) {
		o := opened{page: p}
		var took []time.Duration
		for range b.looks {
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
		o.median, o.worst = took[(len(took)-1)/2], took[len(took)-1]
		all = append(all, o)
	}
	name := "SQLite"
	if strings.HasPrefix(b.where, "postgres") {
		name = "PostgreSQL"
	}
	reference := all[0]
	slowest := slices.MaxFunc(all, func(a, b opened) int { return cmp.Compare(a.median, b.median) })
	heaviest := slices.MaxFunc(all, func(a, b opened) int { return cmp.Compare(a.sent, b.sent) })
	b.value(fmt.Sprintf("first byte of %d pages with %s clusters on %s, the slowest", len(all), thousands(b.copies*clustersOfCompany), name),
		milliseconds(slowest.median), "ms", firstByteLimit, slowest.page.Pattern)
	b.value("  an empty page, for comparison", milliseconds(reference.median), "ms", 0,
		fmt.Sprintf("worst of %d requests: %s ms", b.looks, digits(milliseconds(reference.worst))))
	b.value("  the heaviest page, as sent", float64(heaviest.sent)/1024, "KB", 60, heaviest.page.Pattern)
	slices.SortFunc(all, func(a, b opened) int { return cmp.Compare(b.median, a.median) })
	for _, o := range all {
		b.value("  "+o.page.Pattern, milliseconds(o.median), "ms", 0, fmt.Sprintf("worst %s ms; %s KB compressed, %s KB uncompressed",
			digits(milliseconds(o.worst)), digits(float64(o.sent)/1024), digits(float64(o.size)/1024)))
	}
	return nil
}
