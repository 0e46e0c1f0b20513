package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/cmd/demodata"
)

const (
	readsPerSecond  = 1000
	readsInProgress = 200 // at most; what does not find a place is late, and its wait counts
	readsLimit      = 100 // ms, of 99 in 100
)

// apiReads asks the API as programs do, a thousand times a second, whether or not earlier questions are answered: what is late counts from when it
// should have been asked. Both sides run on the same cores.
func apiReads(ctx context.Context, b *bench) error {
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
	token, err := h.Services.Identity.Tokens.IssueToken(ctx, demodata.Tenant, demodata.Admin, "bench")
	if err != nil {
		return err
	}
	list, err := h.Services.Cluster.Views.Clusters(ctx, app.Actor{Tenant: demodata.Tenant, User: demodata.Admin, Role: app.RoleAdmin}, app.ClusterFilter{Limit: 50})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("the demo has no clusters")
	}
	kinds := []struct {
		name string
		path func(i int) string
	}{
		{"one cluster", func(i int) string { return "/clusters/" + list[i%len(list)].ID }},
		{"50 clusters of " + thousands(b.copies*clustersOfCompany), func(i int) string { return "/clusters?limit=50" }},
		{"events of a cluster", func(i int) string { return "/clusters/" + list[i%len(list)].ID + "/events?wait=0" }},
		{"remaining quotas", func(int) string { return "/quotas/remaining" }},
		{"templates", func(int) string { return "/templates" }},
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: readsInProgress, MaxConnsPerHost: readsInProgress}}
	defer client.CloseIdleConnections()
	ask := func(path string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, site.URL+"/api/v1"+path, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s returned %s: %.300s", path, resp.Status, text)
		}
		return err
	}
	for i := range 20 * len(kinds) { // connections and caches
		if err := ask(kinds[i%len(kinds)].path(i)); err != nil {
			return err
		}
	}
	var (
		mu     sync.Mutex
		took   = make([][]time.Duration, len(kinds))
		failed error
		late   atomic.Int64
		all    sync.WaitGroup
		places = make(chan struct{}, readsInProgress)
	)
	before := cpu()
	began := time.Now()
	count := int(b.readsFor.Seconds() * readsPerSecond)
	for i := range count {
		due := began.Add(time.Duration(i) * time.Second / readsPerSecond)
		time.Sleep(time.Until(due))
		select {
		case places <- struct{}{}:
		default:
			late.Add(1)
			places <- struct{}{}
		}
		all.Go(func() {
			defer func() { <-places }()
			err := ask(kinds[i%len(kinds)].path(i))
			mu.Lock()
			defer mu.Unlock()
			took[i%len(kinds)] = append(took[i%len(kinds)], time.Since(due))
			if failed == nil {
				failed = err
			}
		})
	}
	all.Wait()
	passed := time.Since(began)
	if failed != nil {
		return failed
	}
	busy := (cpu() - before).Seconds()
	whole := slices.Concat(took...)
	slices.Sort(whole)
	at := func(list []time.Duration, share float64) time.Duration { return list[int(share*float64(len(list)-1))] }
	b.value(fmt.Sprintf("API: %s reads a second with %s clusters, 99 in 100 answered within", thousands(readsPerSecond), thousands(b.copies*clustersOfCompany)),
		milliseconds(at(whole, 0.99)), "ms", readsLimit,
		fmt.Sprintf("half within %s ms, the last after %s ms", digits(milliseconds(at(whole, 0.5))), digits(milliseconds(whole[len(whole)-1]))))
	b.value("  answered in a second", float64(count)/passed.Seconds(), "", 0, fmt.Sprintf("%d had to wait for one of %d slots", late.Load(), readsInProgress))
	b.value("  CPU of a read, of both sides", busy/float64(count)*1e6, "us", 0, digits(busy/passed.Seconds())+" cores busy")
	for i, k := range kinds {
		slices.Sort(took[i])
		b.value("  "+k.name, milliseconds(at(took[i], 0.99)), "ms", 0, "99 in 100")
	}
	return nil
}
