package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/catalog"
	"muster/solver"
	"muster/solver/explain"
)

// question asks for a layout of a catalog on disk.
type question struct {
	catalogFlag
	layout  layoutFlags
	hosts   string
	timeout time.Duration
}

func (q *question) declare(cmd *cobra.Command) {
	q.catalogFlag.declare(cmd)
	q.layout.declare(cmd.Flags())
	cmd.Flags().DurationVar(&q.timeout, "timeout", time.Minute, "how long to look for a layout; 0 is as long as it takes")
}

// bounded gives a context that ends when the time is over.
func (q *question) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if q.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, q.timeout)
}

// solve reads the catalog and finds the layout. It has no side effects. The catalog is given with an error of the solver
// too.
func (q *question) solve(cmd *cobra.Command) (*app.Catalog, app.Layout, error) {
	if err := need(cmd, "template", "size"); err != nil {
		return nil, app.Layout{}, err
	}
	known, err := q.load()
	if err != nil {
		return nil, app.Layout{}, err
	}
	if err := q.takeHosts(known); err != nil {
		return nil, app.Layout{}, err
	}
	ctx, cancel := q.bounded(cmd.Context())
	defer cancel()
	layout, err := solver.WithNotes(solver.New()).Solve(ctx, known, q.layout.request)
	if noLayout(err) {
		err = &unsolvable{error: err, advice: "Run `muster solve` with --explain to see why, and what would work."}
	}
	return known, layout, err
}

// catalogFlag names the directories of a catalog.
type catalogFlag struct {
	dirs []string
}

func (f *catalogFlag) declare(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.dirs, "catalog", "c", nil, "catalog `directory`; may be given again (default $MUSTER_CATALOG)")
}

// directories gives those that were named, by flag or else in MUSTER_CATALOG.
func (f *catalogFlag) directories() ([]string, error) {
	dirs := f.dirs
	if len(dirs) == 0 {
		dirs = slices.DeleteFunc(filepath.SplitList(os.Getenv("MUSTER_CATALOG")), func(dir string) bool { return dir == "" })
	}
	if len(dirs) == 0 {
		return nil, usagef("no catalog is named").hint("Name its directory with --catalog DIR, or set MUSTER_CATALOG.")
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil {
			return nil, usagef("the catalog cannot be read: %v", err)
		} else if !info.IsDir() {
			return nil, usagef("%s is not a directory", dir).hint("A catalog is a directory with folders such as templates and services.")
		}
	}
	return dirs, nil
}

// load reads the catalog. Neither secrets nor clouds are needed to think about it, so providers are not checked.
func (f *catalogFlag) load() (*app.Catalog, error) {
	dirs, err := f.directories()
	if err != nil {
		return nil, err
	}
	return catalog.Load(catalog.Options{}, dirs...)
}

func solveCommand(c *cli) *cobra.Command {
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
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := time.Now()
			if change.asked(cmd) {
				return c.solveChange(cmd, &q, &change, explain)
			}
			known, layout, err := q.solve(cmd)
			took := time.Since(start)
			switch {
			case err != nil && explain:
				return q.explained(cmd.Context(), known, q.layout.request, err)
			case err != nil:
				return err
			case c.json():
				return c.printJSON(layoutForm(layout))
			}
			if err := printLayout(c.stdout, q.layout.request.Template, layout); err != nil {
				return err
			}
			c.tellTime(took)
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
func (c *cli) tellTime(took time.Duration) {
	if isTerminal(c.stdout) {
		fmt.Fprintf(c.stderr, "\nfound in %s\n", brief(took))
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
	return errors.As(err, &e) && codeOf(e) == exitNoLayout
}

// unsolvable is a solver's refusal with what more there is to say about it.
type unsolvable struct {
	error
	advice      string           // in one line, how to learn more
	explanation *app.Explanation // what was learned
}

// Unwrap gives the refusal.
func (u *unsolvable) Unwrap() error { return u.error }

// explained adds to a refusal why it is one. Errors that are no refusals stay as they are.
func (q *question) explained(ctx context.Context, known *app.Catalog, r app.LayoutRequest, err error) error {
	var u *unsolvable
	if !errors.As(err, &u) {
		return err
	}
	ctx, cancel := q.bounded(ctx)
	defer cancel()
	x, failed := explain.New(solver.New()).Explain(ctx, known, r)
	if failed != nil {
		u.advice = "The reasons could not be found in time; --timeout allows more of it."
		return u
	}
	u.advice, u.explanation = "", &x
	return u
}
