package main

import (
	"context"
	"fmt"
	"os/exec"
)

// Names of sides.
const (
	muster      = "Muster"
	musterMore  = "Muster, more scripts"
	musterFewer = "Muster, fewer nodes"
	embedded    = "Muster without Redis"
	bareQueue   = "asynq and SQLite in a bare loop"
	bareRows    = "the same rows in SQLite without a queue"
	bareGo      = "a bare Go program"
	bareGoMore  = "a bare Go program, more execs"
	ansible     = "Ansible"
	terraform   = "Terraform"
)

var engineScenarios = []scenario{
	{"engine: one big cluster", measureBigCluster},
	{"engine: many clusters", func(ctx context.Context, b *bench) error {
		c, worst, err := manyClusters(ctx, b.clusters, b.each)
		if err != nil {
			return err
		}
		b.value(fmt.Sprintf("%s clusters of %d nodes at once, 10 tenants", thousands(b.clusters), b.each), c.wall.Seconds(), "s", 60, "")
		b.value("  longest mean wait of a tenant, of its share", worst, "x", 2, "1 is equal for all")
		b.value("  memory", float64(c.peak)/(1<<20), "MB", 0, "")
		return nil
	}},
	{"engine: several servers", measureServers},
	{"engine: over SSH", measureOverSSH},
	{"engine: waiting", func(ctx context.Context, b *bench) error {
		c, threads, err := waiting(ctx, b.waiting)
		if err != nil {
			return err
		}
		b.value(thousands(b.waiting)+" scripts waiting at the same time: memory", float64(c.peak)/(1<<20), "MB", 1024, "server and worker together")
		b.value("  threads", float64(threads), "", 100, "none per step")
		return nil
	}},
	{"engine: makespan", func(ctx context.Context, b *bench) error {
		s, err := makespan(ctx, b.makespan)
		if err != nil {
			return err
		}
		b.value(fmt.Sprintf("makespan of a plan on %d nodes, beside its critical path", b.makespan), float64(s.took)/float64(s.critical), "x", 1.05,
			fmt.Sprintf("critical path %s s; the same plan in stages, as calculated, %s s", digits(s.critical.Seconds()), digits(s.staged.Seconds())))
		return nil
	}},
}

// measureBigCluster measures durable steps that do nothing beside a queue that someone who needs no more than that would write.
func measureBigCluster(ctx context.Context, b *bench) error {
	steps := b.nodes * stepsOfEight
	rounds, err := b.alternate(ctx,
		side{name: muster, run: func(ctx context.Context) (sample, error) { return bigCluster(ctx, b.nodes, false) }},
		side{name: bareQueue, reference: true, run: func(ctx context.Context) (sample, error) { return bestQueue(ctx, b.nodes) }},
		side{name: embedded, run: func(ctx context.Context) (sample, error) { return bigCluster(ctx, b.nodes, true) }},
		side{name: bareRows, reference: true, run: func(ctx context.Context) (sample, error) { return rowsAlone(ctx, b.nodes) }},
		side{name: musterFewer, run: func(ctx context.Context) (sample, error) { return bigCluster(ctx, b.fewer, false) }})
	if err != nil {
		return err
	}
	perStep := func(side string) func(round) float64 {
		return func(r round) float64 { return of(side, "cpu")(r) / float64(steps) * 1e6 }
	}
	b.add(figure{Name: fmt.Sprintf("%s durable steps on %s nodes", thousands(steps), thousands(b.nodes)), Unit: "s", Runs: each(rounds, of(muster, "wall"))})
	b.add(compare(rounds, "  beside a bare queue", "s", 0.4, of(muster, "wall"), bareQueue, of(bareQueue, "wall")))
	b.add(compare(rounds, "  beside rows without a queue", "s", 5, of(muster, "wall"), bareRows, of(bareRows, "wall")))
	b.add(compare(rounds, "  beside fewer nodes", "s", 11, of(muster, "wall"), thousands(b.fewer)+" nodes", of(musterFewer, "wall")))
	b.add(figure{Name: "  until the request was accepted", Unit: "s", Runs: each(rounds, of(muster, "accepted"))})
	b.add(figure{Name: "  CPU of a step", Unit: "us", Runs: each(rounds, perStep(muster)), Limit: 100, note: "Redis included"})
	b.add(compare(rounds, "  CPU of a step beside a bare queue", "us", 0, perStep(muster), bareQueue, perStep(bareQueue)))
	b.add(figure{Name: "  SQL commits of a step", Runs: each(rounds, of(muster, "commits")), Limit: 0.1})
	b.add(figure{Name: "  memory", Unit: "MB", Runs: each(rounds, of(muster, "memory")), Limit: 250})
	b.add(figure{Name: fmt.Sprintf("%s durable steps on %s nodes, without Redis", thousands(steps), thousands(b.nodes)), Unit: "s",
		Runs: each(rounds, of(embedded, "wall")), note: "with the queue that is part of the server"})
	b.add(compare(rounds, "  beside rows without a queue", "s", 3, of(embedded, "wall"), bareRows, of(bareRows, "wall")))
	b.add(figure{Name: "  CPU of a step", Unit: "us", Runs: each(rounds, perStep(embedded)), Limit: 100})
	return nil
}

// measureOverSSH measures a create over the sshd of OpenSSH beside what others use for it.
func measureOverSSH(ctx context.Context, b *bench) error {
	n, more := b.machines, b.more
	sides := []side{
		{name: muster, run: func(ctx context.Context) (sample, error) { return overSSH(ctx, n, 0) }},
		{name: bareGo, reference: true, run: func(ctx context.Context) (sample, error) { return bareSSH(ctx, n, 0) }},
		{name: musterMore, run: func(ctx context.Context) (sample, error) { return overSSH(ctx, n, more) }},
		{name: bareGoMore, reference: true, run: func(ctx context.Context) (sample, error) { return bareSSH(ctx, n, more) }},
	}
	for _, other := range []side{
		{name: ansible, run: func(ctx context.Context) (sample, error) { return withAnsible(ctx, n) }},
		{name: terraform, run: func(ctx context.Context) (sample, error) { return withTerraform(ctx, n) }},
	} {
		program := map[string]string{ansible: "ansible-playbook", terraform: "terraform"}[other.name]
		if _, err := exec.LookPath(program); err != nil {
			b.leftOut("engine: over SSH beside "+other.name, program+" isn't installed")
			continue
		}
		other.reference, other.once = true, true
		sides = append(sides, other)
	}
	rounds, err := b.alternate(ctx, sides...)
	if err != nil {
		return err
	}
	total := func(side string) func(round) float64 {
		return func(r round) float64 { return of(side, "cpu")(r) + of(side, "nodes")(r) }
	}
	// What is added by more scripts, for each step.
	added := func(side, sideMore, quantity string, steps func(round) float64) func(round) float64 {
		return func(r round) float64 { return (of(sideMore, quantity)(r) - of(side, quantity)(r)) / steps(r) }
	}
	stepsMore := func(r round) float64 { return of(musterMore, "steps")(r) - of(muster, "steps")(r) }
	execsMore := func(round) float64 { return float64(n * more) }
	b.add(figure{Name: fmt.Sprintf("%d nodes, 5 dependent scripts each, over OpenSSH", n), Unit: "s", Runs: each(rounds, of(muster, "wall"))})
	b.add(compare(rounds, "  wall", "s", 1.2, of(muster, "wall"), bareGo, of(bareGo, "wall")))
	b.add(compare(rounds, "  CPU", "s", 2, of(muster, "cpu"), bareGo, of(bareGo, "cpu")))
	b.add(compare(rounds, "  CPU, nodes included", "s", 0, total(muster), bareGo, total(bareGo)))
	b.add(compare(rounds, "  wall beside Ansible", "s", 1.0/5, of(muster, "wall"), ansibleHow, of(ansible, "wall")))
	b.add(compare(rounds, "  CPU beside Ansible", "s", 1.0/30, of(muster, "cpu"), ansibleHow, of(ansible, "cpu")))
	b.add(compare(rounds, "  wall beside Terraform", "s", 0.5, of(muster, "wall"), terraformHow, of(terraform, "wall")))
	b.add(compare(rounds, "  CPU beside Terraform", "s", 0, of(muster, "cpu"), terraformHow, of(terraform, "cpu")))
	b.add(figure{Name: "  CPU of a durable step over the bare exec", Unit: "us", Limit: 200, note: fmt.Sprintf("%d more scripts a node, beside so many more execs", more),
		Runs: each(rounds, func(r round) float64 {
			bare := added(bareGo, bareGoMore, "cpu", execsMore)(r) * execsMore(r)
			return (added(muster, musterMore, "cpu", stepsMore)(r)*stepsMore(r) - bare) / stepsMore(r) * 1e6
		})})
	inMS := func(f func(round) float64) func(round) float64 { return func(r round) float64 { return f(r) * 1e3 } }
	b.add(compare(rounds, "  CPU of a node for one step more", "ms", 0, inMS(added(muster, musterMore, "nodes", stepsMore)), "one exec more",
		inMS(added(bareGo, bareGoMore, "nodes", execsMore))))
	b.add(figure{Name: "  connections of a node", Runs: each(rounds, of(muster, "connections")), Limit: 1.05, note: "a bare program: 1"})
	b.add(figure{Name: "  memory", Unit: "MB", Runs: each(rounds, of(muster, "memory")), Limit: 60})
	b.add(compare(rounds, "  memory beside a bare program", "MB", 0, of(muster, "memory"), bareGo, of(bareGo, "memory")))
	return nil
}
