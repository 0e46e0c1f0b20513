package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/solver/change"

	"github.com/spf13/cobra"
)

// changeFlags describe a change of an existing cluster.
type changeFlags struct {
	from        string
	add, remove []string
	allowMoves  bool
}

func (f *changeFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "`file` with the existing cluster, or - for stdin: JSON from solve or cluster show, or a list of nodes")
	flags.StringSliceVar(&f.add, "add", nil, "with --from: comma-separated `services` to add")
	flags.StringSliceVar(&f.remove, "remove", nil, "with --from: comma-separated `services` to remove")
	flags.BoolVar(&f.allowMoves, "allow-moves", false, "with --from: allow moving services to other nodes")
}

// asked reports whether a change is requested, rather than a new layout.
func (f *changeFlags) asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"from", "add", "remove", "allow-moves"}, cmd.Flags().Changed)
}

// request builds the request from flags and the existing cluster.
func (f *changeFlags) request(cmd *cobra.Command, q *question, s existing) (layout.ChangeRequest, error) {
	l := q.layout.Request
	r := layout.ChangeRequest{
		Template: cmp.Or(l.Template, s.Template), Provider: cmp.Or(l.Provider, s.Provider), Nodes: s.Nodes,
		Add: f.add, Remove: f.remove, Size: l.Size, Hardware: l.Hardware, Image: l.Image, AllowMoves: f.allowMoves, Prefer: l.Prefer,
	}
	switch {
	case cmd.Flags().Changed("hosts"):
		return r, cli.Usagef("--hosts and --from can't be combined").Hint("A change doesn't assign new nodes to hosts.")
	case cmd.Flags().Changed("services"):
		return r, cli.Usagef("--services and --from can't be combined").Hint("Use --add and --remove to change services.")
	case cmd.Flags().Changed("size") && l.Size < 1:
		return r, cli.Usagef("--size must be at least 1, not %d", l.Size).Hint("Omit it to keep the size or grow as needed.")
	case r.Template == "":
		return r, cli.Usagef("--template is required").Hint("%s doesn't name the nodes' template.", f.from)
	}
	return r, nil
}

// solveChange finds how to change an existing cluster.
func solveChange(c *cli.Context, cmd *cobra.Command, q *question, f *changeFlags, explain bool) error {
	if err := cli.Need(cmd, "from"); err != nil {
		return err
	}
	s, err := readState(c, f.from)
	if err != nil {
		return err
	}
	r, err := f.request(cmd, q, s)
	if err != nil {
		return err
	}
	known, err := q.priced()
	if err != nil {
		return err
	}
	ctx, cancel := q.bounded(cmd.Context())
	defer cancel()
	start := time.Now()
	found, err := change.New().Change(ctx, known, r)
	took := time.Since(start)
	found.Currency = known.Currency
	switch {
	case noLayout(err) && explain:
		return q.explainedChange(cmd.Context(), known, r, err)
	case noLayout(err):
		return &cli.Unsolvable{Refusal: err, Advice: "To see why, and what would work, run it again with --explain."}
	case err != nil:
		return err
	case c.JSON():
		return c.PrintJSON(changeForm(found))
	}
	change.Text(c.Stdout, found)
	tellTime(c, took)
	return nil
}

// changeForm is a change with [] instead of null in JSON.
func changeForm(change layout.Change) layout.Change {
	change.Nodes = slices.Clone(change.Nodes)
	for i := range change.Nodes {
		change.Nodes[i].Services = cli.OrNone(change.Nodes[i].Services)
	}
	if change.Nodes == nil {
		change.Nodes = []layout.ChangedNode{}
	}
	return change
}

// explainedChange explains an impossible change: either no cluster could meet the request, or the existing one prevents it.
func (q *question) explainedChange(ctx context.Context, known *template.Catalog, r layout.ChangeRequest, refused error) error {
	err := q.explained(ctx, known, wanted(r), &cli.Unsolvable{Refusal: refused})
	var u *cli.Unsolvable
	if !errors.As(err, &u) || u.Explanation == nil || !cli.Empty(*u.Explanation) {
		return err
	}
	u.Explanation.Conflict = []layout.Clause{{Kind: "placed", Text: "existing services stay on their nodes"}}
	u.Explanation.Minimal = true // without it a layout exists: the explainer found nothing to explain
	ctx, cancel := q.bounded(ctx)
	defer cancel()
	fresh, moving := wanted(r), r
	moving.AllowMoves = true
	if change, err := change.New().Change(ctx, known, moving); err == nil && !r.AllowMoves {
		u.Explanation.Fixes = append(u.Explanation.Fixes, layout.Fix{
			Text: fmt.Sprintf("allow moving services (--allow-moves); this changes %s", humanize.Count(change.Touched, "machine"))})
	}
	u.Explanation.Fixes = append(u.Explanation.Fixes, layout.Fix{Text: fmt.Sprintf("create a new cluster of %s instead", humanize.Count(fresh.Size, "node")), Request: &fresh})
	return u
}

// wanted is a new cluster like the result of the change.
func wanted(r layout.ChangeRequest) layout.Request {
	services := map[string]bool{}
	for _, n := range r.Nodes {
		for _, s := range n.Services {
			services[s] = true
		}
	}
	for _, s := range r.Add {
		services[s] = true
	}
	for _, s := range r.Remove {
		delete(services, s)
	}
	return layout.Request{
		Template: r.Template, Provider: r.Provider, Services: cli.SortedKeys(services), Size: cmp.Or(r.Size, len(r.Nodes)),
		Hardware: r.Hardware, Image: r.Image, Prefer: r.Prefer,
	}
}
