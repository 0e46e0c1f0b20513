package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/store/db"
	"muster/cmd/demodata"
)

// How live pages are measured.
const (
	livePause = 3 * time.Second        // until what has happened has arrived
	liveEvery = 250 * time.Millisecond // something happens
	perReader = 20                     // pages of one person
	listed    = 10                     // clusters of a list that change in turn
	listEvery = 2 * time.Second        // one of them does: a list is notified of more than one thing a second at once
)

// livePages opens pages of clusters that are being made, lets steps say something and end, and measures how late that arrives. With the
// path of a list it opens that instead, and has clusters on it renamed. Of the clusters, copies of two have steps that run.
func livePages(ctx context.Context, b *bench, clusters int, list string) error {
	pages := b.pages
	h, leave, err := b.crowded(ctx, b.liveCopies)
	if err != nil {
		return err
	}
	defer leave()
	h.Clock.Go()
	var read db.Reading
	site, err := h.Serve(ctx, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r.WithContext(read.In(r.Context()))) })
	})
	if err != nil {
		return err
	}
	defer func() { _ = site.Close() }()
	busy, err := underWay(ctx, h, clusters, b.liveCopies)
	if err != nil {
		return err
	}
	r := reading{URL: site.URL}
	cookie := ""
	for i := range pages {
		if i%perReader == 0 {
			name := demodata.Admin
			if n := i / perReader; n > 0 {
				name = fmt.Sprintf("%s-%d", []string{demodata.Admin, demodata.Operator}[n%2], (n+1)/2)
			}
			v, err := site.SignIn(ctx, name)
			if err != nil {
				return err
			}
			at, err := url.Parse(site.URL)
			if err != nil {
				return err
			}
			var all []string
			for _, c := range v.Client.Jar.Cookies(at) {
				all = append(all, c.Name+"="+c.Value)
			}
			cookie = strings.Join(all, "; ")
		}
		path := "/clusters/" + busy[i%len(busy)].cluster + "/live?after=0"
		if list != "" {
			path = "/live?page=" + url.QueryEscape(list)
		}
		r.Streams = append(r.Streams, streamOf{path, cookie})
	}
	resting, routines := settledMemory(), runtime.NumGoroutine()
	readers, err := startReaders(ctx, r)
	if err != nil {
		return err
	}
	time.Sleep(livePause) // what the pages begin with
	used, wall := cpu(), time.Now()
	var sent int
	if list == "" {
		sent, err = happen(ctx, h, busy, b.liveFor)
	} else {
		sent, err = rename(ctx, h, b.liveFor)
	}
	if err != nil {
		_, _ = readers.stop()
		return err
	}
	time.Sleep(livePause)
	perSecond := float64(cpu()-used) / float64(time.Since(wall)) * 100
	open, openRoutines := settledMemory(), runtime.NumGoroutine()
	before, used, wall := read.Queries(), cpu(), time.Now()
	time.Sleep(b.liveRest)
	quiet := float64(cpu()-used) / float64(time.Since(wall)) * 100
	queries := float64(read.Queries()-before) / time.Since(wall).Seconds()
	a, err := readers.stop()
	switch {
	case err != nil:
		return err
	case a.Failure != "":
		return fmt.Errorf("a page failed: %s", a.Failure)
	case list == "" && a.Events < int64(sent*pages/max(clusters, 1)):
		return fmt.Errorf("%d of %d lines arrived", a.Events, sent*pages/max(clusters, 1))
	case list != "" && a.Events < int64(pages): // a list may skip what was overtaken
		return fmt.Errorf("%d list changes arrived", a.Events)
	}
	what := "one cluster"
	if clusters > 1 {
		what = fmt.Sprintf("%d clusters", clusters)
	}
	often, latest, idle := "4 times a second", 0.05, 1.0
	if list != "" { // what has changed waits for its turn, and for some time after the last change
		what, often, latest, idle = "a list", "every 2 seconds", 3, 0
	}
	b.value(fmt.Sprintf("%d live pages of %s: an event arrives within, 99 of 100", pages, what), a.P99.Seconds(), "s", latest,
		fmt.Sprintf("median %s s, last %s s, %d arrivals", digits(a.Median.Seconds()), digits(a.Max.Seconds()), a.Events))
	b.value("  the last of all", a.Max.Seconds(), "s", 0, "")
	b.value("  memory of a page", float64(open-resting)/float64(pages)/1024, "KB", 0,
		fmt.Sprintf("the server: %s MB without pages, %s MB with", digits(float64(resting)/(1<<20)), digits(float64(open)/(1<<20))))
	b.value("  goroutines of a page", float64(openRoutines-routines)/float64(pages), "", 0, "")
	b.value("  CPU while something happens "+often, perSecond, "%", 0, "of one core, server and writer")
	b.value("  CPU while nothing happens", quiet, "%", idle, digits(queries)+" queries a second, of all pages")
	return nil
}

// settledMemory is what the process holds once it has given back what it can.
func settledMemory() int {
	debug.FreeOSMemory()
	return status("VmRSS") << 10
}

// busyCluster is one with a running step.
type busyCluster struct {
	cluster string
	fence   app.Fence
}

// underWay returns clusters in which steps run.
func underWay(ctx context.Context, h *demodata.Instance, most, copies int) (all []busyCluster, err error) {
	for _, name := range []string{"demo-for-sales", "events", "clicks-replay"} {
		for k := 0; k <= copies && len(all) < most; k++ {
			full := name
			if k > 0 {
				full = fmt.Sprintf("%s-%d", name, k)
			}
			list, err := h.Store.Clusters(ctx, demodata.Tenant, app.ClusterFilter{Name: full})
			if err != nil {
				return nil, err
			}
			for _, c := range list {
				if c.Operation == nil {
					continue
				}
				steps, err := h.Store.Steps(ctx, demodata.Tenant, c.Operation.ID)
				if err != nil {
					return nil, err
				}
				for _, s := range steps {
					if s.State == app.StepRunning {
						all = append(all, busyCluster{c.ID, app.Fence{Operation: s.Operation, Index: s.Index, Attempt: s.Attempt}})
						break
					}
				}
			}
		}
	}
	if len(all) < most {
		return nil, fmt.Errorf("%d clusters with running steps instead of %d", len(all), most)
	}
	return all, nil
}

// happen writes lines of steps, in turn, and returns how many.
func happen(ctx context.Context, h *demodata.Instance, busy []busyCluster, long time.Duration) (sent int, err error) {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	begun := time.Now()
	for at := 0; time.Since(begun) < long; {
		var lines []app.LogLine
		for range max(1, len(busy)/40) { // each is notified of something every ten seconds
			f := busy[at%len(busy)].fence
			at++
			now := time.Now()
			lines = append(lines, app.LogLine{At: now, Operation: f.Operation, Index: f.Index, Attempt: f.Attempt, Stream: family.StreamOut, Text: fmt.Sprintf("sent at %d", now.UnixNano())})
		}
		for _, l := range lines { // each in a commit of its own, as from different workers
			if err := h.Store.AppendLogs(ctx, demodata.Tenant, []app.LogLine{l}); err != nil {
				return sent, err
			}
			sent++
		}
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-tick.C:
		}
	}
	return sent, nil
}

// rename renames clusters on the first page of the list, in turn, and returns how often.
func rename(ctx context.Context, h *demodata.Instance, long time.Duration) (sent int, err error) {
	who := app.Actor{Tenant: demodata.Tenant, User: demodata.Admin, Role: app.RoleAdmin, Via: app.ViaPortal}
	list, err := h.Services.Cluster.Views.ClusterPage(ctx, who, app.ClusterFilter{Limit: listed})
	if err != nil {
		return 0, err
	}
	if len(list.Clusters) < listed {
		return 0, fmt.Errorf("%d clusters instead of %d", len(list.Clusters), listed)
	}
	tick := time.NewTicker(listEvery)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < long; sent++ {
		if _, err := h.Services.Ownership.RenameCluster(ctx, who, list.Clusters[sent%listed].ID,
			fmt.Sprintf("sent-at-%d", time.Now().UnixNano())); err != nil {
			return sent, err
		}
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-tick.C:
		}
	}
	return sent, nil
}
