package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// question is a request for a layout from a catalog on disk.
type question struct {
	families.CatalogFlag
	layout  cluster.LayoutFlags
	hosts   string
	timeout time.Duration
}

func (q *question) declare(cmd *cobra.Command) {
	q.CatalogFlag.Declare(cmd)
	q.layout.Declare(cmd.Flags())
	cmd.Flags().DurationVar(&q.timeout, "timeout", time.Minute, "time limit for finding a layout; 0 is no limit")
}

// bounded returns a context with the time limit.
func (q *question) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, q.timeout)
}

// priced reads the catalog, with all prices in one currency.
func (q *question) priced() (*template.Catalog, error) {
	if err := families.CheckCurrency(); err != nil {
		return nil, err
	}
	known, err := q.Load()
	if err != nil {
		return nil, err
	}
	if code := commonCurrency(known); code != "" && os.Getenv("MUSTER_CURRENCY") == "" {
		same := *known
		same.Currency = code
		return &same, nil
	}
	return known.InCurrency(template.Exchange{Currency: families.Currency(), Rate: 1}), nil
}

// commonCurrency is that of all providers of a catalog; "" where they differ, or have the installation's.
func commonCurrency(known *template.Catalog) (code string) {
	for _, p := range known.Providers {
		if p.Currency == "" || code != "" && code != p.Currency {
			return ""
		}
		code = p.Currency
	}
	return code
}

// solve reads the catalog and finds the layout. It has no side effects. It returns the catalog even with a solver error.
func (q *question) solve(cmd *cobra.Command) (*template.Catalog, applayout.Layout, error) {
	if err := cli.Need(cmd, "template", "size"); err != nil {
		return nil, applayout.Layout{}, err
	}
	known, err := q.priced()
	if err != nil {
		return nil, applayout.Layout{}, err
	}
	if err := q.takeHosts(known); err != nil {
		return nil, applayout.Layout{}, err
	}
	ctx, cancel := q.bounded(cmd.Context())
	defer cancel()
	layout, err := solver.WithNotes(solver.New()).Solve(ctx, known, q.layout.Request)
	layout.Currency = known.Currency
	if noLayout(err) {
		err = &cli.Unsolvable{Refusal: err, Advice: "To see why, and what would work, run `muster solve` with --explain."}
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
		Short: "Find a layout: which services go on which machines",
		Long: "Find a layout: how many machines of which hardware, which services run on each, and the cost. Nothing is created, and no server is needed.\n\n" +
			"With --from, find how to change an existing cluster: add or remove services, or grow or shrink it to --size. Services stay on\n" +
			"their nodes unless --allow-moves is set.\n\n" +
			"The exit code is 3 if no layout exists; --explain says why and what would work.",
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
	cmd.Flags().StringVar(&q.hosts, "hosts", "", "YAML or JSON `file` with the provider's hosts for nodes")
	cmd.Flags().BoolVar(&explain, "explain", false, "if no layout exists, say why and what would work")
	return cmd
}

// tellTime prints the time taken on a terminal. It isn't part of the output, which is the same for the same request.
func tellTime(c *cli.Context, took time.Duration) {
	if cli.IsTerminal(c.Stdout) {
		fmt.Fprintf(c.Stderr, "\nfound in %s\n", brief(took))
	}
}

// brief formats a short duration with two significant digits: 85 µs, 1.4 ms, 17 ms, 1.3 s.
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

// noLayout reports whether an error is a solver's refusal.
func noLayout(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && cli.CodeOf(e) == cli.ExitNoLayout
}

// explained adds an explanation to a refusal. Other errors are returned unchanged.
func (q *question) explained(ctx context.Context, known *template.Catalog, r applayout.Request, err error) error {
	var u *cli.Unsolvable
	if !errors.As(err, &u) {
		return err
	}
	ctx, cancel := q.bounded(ctx)
	defer cancel()
	x, failed := explain.New(solver.New()).Explain(ctx, known, r)
	if failed != nil {
		u.Advice = "Finding the reasons took too long; raise --timeout."
		return u
	}
	u.Advice, u.Explanation = "", &x
	return u
}
