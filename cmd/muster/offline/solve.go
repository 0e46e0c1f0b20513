package offline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"muster/app"
	applayout "muster/app/layout"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/cmd/muster/families"
	"muster/solver"
	"muster/solver/explain"
)

// question asks for a layout of a catalog on disk.
type question struct {
	families.CatalogFlag
	layout  cluster.LayoutFlags
	hosts   string
	timeout time.Duration
}

func (q *question) declare(cmd *cobra.Command) {
	q.CatalogFlag.Declare(cmd)
	q.layout.Declare(cmd.Flags())
	cmd.Flags().DurationVar(&q.timeout, "timeout", time.Minute, "how long to look for a layout; 0 is as long as it takes")
}

// bounded returns a context that ends when the time is over.
func (q *question) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, q.timeout)
}

// solve reads the catalog and finds the layout. It has no side effects. The catalog is given with an error of the solver
// too.
func (q *question) solve(cmd *cobra.Command) (*template.Catalog, applayout.Layout, error) {
	if err := cli.Need(cmd, "template", "size"); err != nil {
		return nil, applayout.Layout{}, err
	}
	known, err := q.Load()
	if err != nil {
		return nil, applayout.Layout{}, err
	}
	if err := q.takeHosts(known); err != nil {
		return nil, applayout.Layout{}, err
	}
	ctx, cancel := q.bounded(cmd.Context())
	defer cancel()
	layout, err := solver.WithNotes(solver.New()).Solve(ctx, known, q.layout.Request)
	if noLayout(err) {
		err = &cli.Unsolvable{Refusal: err, Advice: "Run `muster solve` with --explain to see why, and what would work."}
	}
	return known, layout, err
}

func SolveCommand(c *cli.Context) *cobra.Command {
	var (
		q       question
		change  changeFlags
		explain bool
	)
	cmd := &cobra.Command{
		Use:   "solve --catalog DIR --template T --size N",
		Short: "Find which services go on how many machines of which kind",
		Long: "Find which services go on how many machines of which kind, and what they cost. Nothing is made.\n\n" +
			"With --from it is found how a standing cluster becomes what is asked for: services are added and removed, and\n" +
			"the cluster grows or shrinks to --size. What stands is not moved unless --allow-moves is given.\n\n" +
			"Where no layout exists, the exit code is 3, and --explain says why and what would work.",
		Example: "  muster solve --catalog examples/catalog --template web --size 3\n" +
			"  muster solve --catalog examples/catalog --template web --size 2 --explain\n" +
			"  muster solve --catalog examples/catalog --template web --size 3 --hosts hosts.yaml\n" +
			"  muster cluster show shop --format json | muster solve --catalog examples/catalog --from - --size 6",
		Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := time.Now()
			if change.asked(cmd) {
				return solveChange(c, cmd, &q, &change, explain)
			}
			known, layout, err := q.solve(cmd)
			took := time.Since(start)
			switch {
			case err != nil && explain:
				return q.explained(cmd.Context(), known, q.layout.Request, err)
			case err != nil:
				return err
			case c.JSON():
				return c.PrintJSON(cli.LayoutForm(layout))
			}
			if err := cli.PrintLayout(c.Stdout, q.layout.Request.Template, layout); err != nil {
				return err
			}
			tellTime(c, took)
			return nil
		},
	}
	q.declare(cmd)
	change.declare(cmd)
	cmd.Flags().StringVar(&q.hosts, "hosts", "", "`file` with the hosts of the provider that nodes go on, as YAML or JSON")
	cmd.Flags().BoolVar(&explain, "explain", false, "where there is no layout, say why and what would work")
	return cmd
}

// tellTime says to a person who watches how long it took. It is no part of the answer, since the same question gets the
// same answer.
func tellTime(c *cli.Context, took time.Duration) {
	if cli.IsTerminal(c.Stdout) {
		fmt.Fprintf(c.Stderr, "\nfound in %s\n", brief(took))
	}
}

// brief gives a short time with a digit or more that count: 85 µs, 1.4 ms, 17 ms, 1.3 s.
func brief(d time.Duration) string {
	unit, name := time.Microsecond, "µs"
	switch {
	case d >= time.Second:
		unit, name = time.Second, "s"
	case d >= time.Millisecond:
		unit, name = time.Millisecond, "ms"
	}
	if x := float64(d) / float64(unit); x < 9.95 {
		return fmt.Sprintf("%.1f %s", x, name)
	}
	return fmt.Sprintf("%d %s", d.Round(unit)/unit, name)
}

// noLayout tells whether an error is a solver's refusal.
func noLayout(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && cli.CodeOf(e) == cli.ExitNoLayout
}

// explained adds to a refusal why it is one. Errors that are no refusals stay as they are.
func (q *question) explained(ctx context.Context, known *template.Catalog, r applayout.LayoutRequest, err error) error {
	var u *cli.Unsolvable
	if !errors.As(err, &u) {
		return err
	}
	ctx, cancel := q.bounded(ctx)
	defer cancel()
	x, failed := explain.New(solver.New()).Explain(ctx, known, r)
	if failed != nil {
		u.Advice = "The reasons could not be found in time; --timeout allows more of it."
		return u
	}
	u.Advice, u.Explanation = "", &x
	return u
}
