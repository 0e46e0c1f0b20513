package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/catalog"
	"muster/solver"
)

// question asks for a layout of a catalog on disk.
type question struct {
	catalogFlag
	layout layoutFlags
}

func (q *question) declare(cmd *cobra.Command) {
	q.catalogFlag.declare(cmd)
	q.layout.declare(cmd.Flags())
}

// solve reads the catalog and finds the layout. It has no side effects.
func (q *question) solve(cmd *cobra.Command) (*app.Catalog, app.Layout, error) {
	if err := need(cmd, "template", "size"); err != nil {
		return nil, app.Layout{}, err
	}
	known, err := q.load()
	if err != nil {
		return nil, app.Layout{}, err
	}
	layout, err := solver.New().Solve(cmd.Context(), known, q.layout.request)
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
	var q question
	cmd := &cobra.Command{
		Use:   "solve --catalog DIR --template T --size N",
		Short: "Find which services go on how many machines of which kind",
		Long: "Find which services go on how many machines of which kind, and what they cost. Nothing is made.\n\n" +
			"Where no layout exists, the exit code is 3.",
		Example: "  muster solve --catalog examples/catalog --template web --size 3",
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, layout, err := q.solve(cmd)
			if err != nil {
				return err
			}
			if c.json() {
				return c.printJSON(layoutForm(layout))
			}
			return printLayout(c.stdout, q.layout.request.Template, layout)
		},
	}
	q.declare(cmd)
	return cmd
}

// layoutJSON is the answer of solve; it keeps its form.
type layoutJSON struct {
	Groups      []app.NodeGroup `json:"layout"`
	CostPerHour float64         `json:"cost_per_hour"`
}

func layoutForm(l app.Layout) layoutJSON {
	out := layoutJSON{Groups: make([]app.NodeGroup, 0, len(l.Groups)), CostPerHour: l.CostPerHour}
	for _, g := range l.Groups {
		if g.Services == nil {
			g.Services = []string{}
		}
		out.Groups = append(out.Groups, g)
	}
	return out
}

// printLayout draws services by nodes: a row for each service, a column for each group of equal nodes.
func printLayout(w io.Writer, template string, l app.Layout) error {
	title := fmt.Sprintf("%s: %s on %s", template, plural(l.Size(), "node"), l.Provider)
	if l.CostPerHour > 0 {
		title += fmt.Sprintf(", %s per hour", money(l.CostPerHour))
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", title); err != nil {
		return err
	}
	first, places := 1, map[string][]bool{}
	heads, hardware, images, prices := []string{""}, []string{"hardware"}, []string{"image"}, []string{"cost per hour"}
	for i, g := range l.Groups {
		heads = append(heads, nodeRange(first, g.Count))
		hardware = append(hardware, g.Hardware)
		images = append(images, g.Image)
		prices = append(prices, money(g.CostPerHour))
		for _, s := range g.Services {
			if places[s] == nil {
				places[s] = make([]bool, len(l.Groups))
			}
			places[s][i] = true
		}
		first += g.Count
	}
	t := newTable(heads...)
	t.add(hardware...)
	t.add(images...)
	t.add(prices...)
	t.add()
	for _, s := range sortedKeys(places) {
		row := []string{s}
		for _, here := range places[s] {
			row = append(row, map[bool]string{true: "●", false: "·"}[here])
		}
		t.add(row...)
	}
	return t.write(w)
}

// nodeRange names count nodes from the first-th on: n3, or n3-n7 (5).
func nodeRange(first, count int) string {
	if count == 1 {
		return app.NodeName(first)
	}
	return fmt.Sprintf("%s-%s (%d)", app.NodeName(first), app.NodeName(first+count-1), count)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
