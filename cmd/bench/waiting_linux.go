package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"muster/app"
	"muster/app/template"
)

// waiting measures the worker while so many commands wait on slow machines at the same time.
func waiting(ctx context.Context, nodes int) (c cost, threads int, err error) {
	f, err := startFakeNodes(fakeQuiet)
	if err != nil {
		return c, 0, err
	}
	defer f.stop()
	catalog := eight()
	delete(catalog.Services, "front")
	catalog.Services["back"].Actions = map[app.Action]*template.ServiceAction{
		app.ActionStart: {Automator: "shell", Fields: map[string]string{"script": "wait for the gate\n"}}}
	catalog.Templates["web"].Defaults.Services = []string{"back"}
	cloud, err := f.cloud()
	if err != nil {
		return c, 0, err
	}
	tools, err := shellTools()
	if err != nil {
		return c, 0, err
	}
	r, err := newRig(ctx, rigConfig{catalog: catalog, cloud: cloud, tools: tools, tenants: []string{app.DefaultTenant}, slots: nodes})
	if err != nil {
		return c, 0, err
	}
	defer r.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(200 * time.Millisecond)
			if busy, err := f.ask("busy"); err != nil {
				cancel(err)
			} else if busy >= nodes {
				threads = status("Threads")
				if _, err := f.ask("open"); err != nil {
					cancel(err)
				}
				return
			}
		}
	})
	c, err = during(r.redis, func() error {
		_, _, err := r.create(ctx, app.DefaultTenant, "web", "wait", nodes)
		return err
	})
	cancel(nil)
	watch.Wait()
	if err == nil && threads == 0 {
		err = fmt.Errorf("the commands never all waited at the same time")
	}
	return c, threads, err
}
