package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// line is one figure of the engine.
type line struct {
	name     string
	value    float64
	unit     string
	limit    float64 // 0: none
	compared string
}

func (l line) over() bool { return l.limit > 0 && l.value > l.limit }

func (l line) print(w io.Writer) {
	limit, compared := "-", l.compared
	if l.limit > 0 {
		limit = fine(l.limit) + " " + l.unit
	}
	if l.over() {
		compared = "OVER ITS LIMIT. " + compared
	}
	fmt.Fprintf(w, "%-62s %9s %-8s %12s  %s\n", l.name, fine(l.value), l.unit, limit, compared)
}

// fine returns a number with three digits, and without an exponent.
func fine(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// engineTimeout is how long one scenario may take before it counts as failed.
const engineTimeout = 5 * time.Minute

// scenario measures something of the engine that returns several figures.
type scenario struct {
	name    string
	measure func(ctx context.Context, add func(line)) error
}

// runEngine measures and prints. It returns how many figures are over a limit, and how many scenarios failed.
func runEngine(ctx context.Context, w io.Writer, only string) (over, wrong int) {
	fmt.Fprintf(w, "\nthe engine, with a real Redis, SQLite on disk and workers in this process; CPU in user and system mode, Redis included\n\n")
	fmt.Fprintf(w, "%-62s %9s %-8s %12s  %s\n", "figure", "value", "unit", "limit", "compared with")
	for _, s := range slices.Concat(scenarios, portalScenarios) {
		if !strings.Contains(s.name, only) || ctx.Err() != nil {
			continue
		}
		err := func() error {
			ctx, cancel := context.WithTimeoutCause(ctx, engineTimeout, fmt.Errorf("not finished within %s", engineTimeout))
			defer cancel()
			return s.measure(ctx, func(l line) {
				l.print(w)
				if l.over() {
					over++
				}
			})
		}()
		if err != nil {
			fmt.Fprintf(w, "%-62s WRONG: %v\n", s.name, err)
			wrong++
		}
	}
	return over, wrong
}

var scenarios = []scenario{
	{"engine: one big cluster", func(ctx context.Context, add func(line)) error {
		small, _, _, err := bigCluster(ctx, 1000)
		if err != nil {
			return err
		}
		c, accepted, commits, err := bigCluster(ctx, 10_000)
		if err != nil {
			return err
		}
		const steps = 10_000 * stepsOfEight
		add(line{"80,000 durable steps on 10,000 nodes", c.wall.Seconds(), "s", 12, "asynq and batched SQLite in a bare loop: 6.5 s"})
		add(line{"  until the request was accepted", accepted.Seconds(), "s", 0, "of the same"})
		add(line{"  beside 1,000 nodes", float64(c.wall) / float64(small.wall), "x", 11, fmt.Sprintf("1,000 nodes: %s s", digits(small.wall.Seconds()))})
		add(line{"  CPU of a step", float64((c.cpu+c.redis)/steps) / 1e3, "us", 0, "asynq alone: 54 us, and 41 us in Redis"})
		add(line{"  SQL commits of a step", commits, "", 0.1, ""})
		add(line{"  memory", float64(c.peak) / (1 << 20), "MB", 250, ""})
		return nil
	}},
	{"engine: many clusters", func(ctx context.Context, add func(line)) error {
		c, worst, err := manyClusters(ctx, 1000, 10)
		if err != nil {
			return err
		}
		add(line{"1,000 clusters of 10 nodes at once, 10 tenants", c.wall.Seconds(), "s", 60, ""})
		add(line{"  longest mean wait of a tenant, of its share", worst, "x", 2, "1 is equal for all"})
		add(line{"  memory", float64(c.peak) / (1 << 20), "MB", 0, ""})
		return nil
	}},
	{"engine: over SSH", func(ctx context.Context, add func(line)) error {
		bare, err := bareSSH(ctx, 0)
		if err != nil {
			return err
		}
		c, connections, steps, err := overSSH(ctx, 0)
		if err != nil {
			return err
		}
		// What a step costs beside the exec that it is: so many more steps, beside so many more execs.
		const more = 15
		bareMore, err := bareSSH(ctx, more)
		if err != nil {
			return err
		}
		cMore, _, stepsMore, err := overSSH(ctx, more)
		if err != nil {
			return err
		}
		used := c.cpu + c.redis
		usedMore := cMore.cpu + cMore.redis
		const ansible, ansibleWall, terraform = 36.9, 24.7, 11.7
		add(line{"200 nodes, 5 dependent scripts each, over OpenSSH", float64(c.wall) / float64(bare.wall), "x", 1.5,
			fmt.Sprintf("a bare Go program: %s s; here %s s", digits(bare.wall.Seconds()), digits(c.wall.Seconds()))})
		add(line{"  CPU beside it", float64(used) / float64(bare.cpu), "x", 4,
			fmt.Sprintf("the bare program: %s s; here %s s", digits(bare.cpu.Seconds()), digits(used.Seconds()))})
		add(line{" CPU beside it, nodes included", float64(used+c.nodes) / float64(bare.cpu+bare.nodes), "x", 0,
			fmt.Sprintf("nodes of the bare program: %s s; here %s s", fine(bare.nodes.Seconds()), fine(c.nodes.Seconds()))})
		add(line{"  CPU beside Ansible's", used.Seconds() / ansible, "x", 1.0 / 20, fmt.Sprintf("Ansible, raw module, 50 forks: %v s", ansible)})
		add(line{"  wall beside Ansible's", c.wall.Seconds() / ansibleWall, "x", 0.25, fmt.Sprintf("%v s", ansibleWall)})
		add(line{"  wall beside Terraform's", c.wall.Seconds() / terraform, "x", 0.5, fmt.Sprintf("two resources a node: %v s; one per step: 51.7 s", terraform)})
		add(line{"  CPU of a durable step over the bare exec", float64(usedMore-used-bareMore.cpu+bare.cpu) / float64(stepsMore-steps) / 1e3, "us", 200,
			fmt.Sprintf("%d more scripts a node: %d more steps, %s s more wall; the bare program %s s more", more, stepsMore-steps,
				digits((cMore.wall - c.wall).Seconds()), digits((bareMore.wall - bare.wall).Seconds()))})
		add(line{"  CPU of a node for one step more", float64(cMore.nodes-c.nodes) / float64(stepsMore-steps) / 1e6, "ms", 0,
			fmt.Sprintf("for one exec more: %s ms", fine(float64(bareMore.nodes-bare.nodes)/float64(machines*more)/1e6))})
		add(line{"  CPU of all steps over the bare program", float64(used-bare.cpu) / float64(steps) / 1e3, "us", 0,
			fmt.Sprintf("%d steps, with create, confirm and bootstrap, which the bare program does not have", steps)})
		add(line{"  connections of a node", connections, "", 1.05, "a bare program: 1"})
		add(line{"  memory", float64(c.peak) / (1 << 20), "MB", 80, fmt.Sprintf("the bare program: %s MB", digits(float64(bare.peak)/(1<<20)))})
		return nil
	}},
	{"engine: waiting", func(ctx context.Context, add func(line)) error {
		c, threads, err := waiting(ctx, 5000)
		if err != nil {
			return err
		}
		add(line{"5,000 scripts waiting at the same time: memory", float64(c.peak) / (1 << 20), "MB", 1024, "server and worker together"})
		add(line{"  threads", float64(threads), "", 100, "none per step"})
		return nil
	}},
	{"engine: makespan", func(ctx context.Context, add func(line)) error {
		s, err := makespan(ctx, 60)
		if err != nil {
			return err
		}
		add(line{"makespan of a plan on 60 nodes, beside its critical path", float64(s.took) / float64(s.critical), "x", 1.05,
			fmt.Sprintf("critical path %s s; Coopr's stages would have taken %s s", digits(s.critical.Seconds()), digits(s.staged.Seconds()))})
		return nil
	}},
}
