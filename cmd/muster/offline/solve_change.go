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

// changeFlags ask for a change of what stands.
type changeFlags struct {
	from        string
	add, remove []string
	allowMoves  bool
}

func (f *changeFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "`file` with what stands, - for stdin: JSON of solve or of cluster show, or a list of nodes")
	flags.StringSliceVar(&f.add, "add", nil, "with --from: `services` to add, separated by commas")
	flags.StringSliceVar(&f.remove, "remove", nil, "with --from: `services` to remove, separated by commas")
	flags.BoolVar(&f.allowMoves, "allow-moves", false, "with --from: what stands may be moved to other nodes")
}

// asked tells whether a change is asked for, and not a new layout.
func (f *changeFlags) asked(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"from", "add", "remove", "allow-moves"}, cmd.Flags().Changed)
}

// request makes the request of flags and what stands.
func (f *changeFlags) request(cmd *cobra.Command, q *question, s standing) (layout.ChangeRequest, error) {
	l := q.layout.Request
	r := layout.ChangeRequest{
		Template: cmp.Or(l.Template, s.Template), Provider: cmp.Or(l.Provider, s.Provider), Nodes: s.Nodes,
		Add: f.add, Remove: f.remove, Size: l.Size, Hardware: l.Hardware, Image: l.Image, AllowMoves: f.allowMoves, Prefer: l.Prefer,
	}
	switch {
	case cmd.Flags().Changed("hosts"):
		return r, cli.Usagef("--hosts does not go with --from").Hint("A change does not say on which hosts new nodes go.")
	case cmd.Flags().Changed("services"):
		return r, cli.Usagef("--services does not go with --from").Hint("Say with --add and --remove what becomes different.")
	case cmd.Flags().Changed("size") && l.Size < 1:
		return r, cli.Usagef("--size %d is no number of nodes", l.Size).Hint("Leave it out to keep the size, or let it grow as far as needed.")
	case r.Template == "":
		return r, cli.Usagef("--template is missing").Hint("%s does not say of which template the nodes are.", f.from)
	}
	return r, nil
}

// solveChange finds how what stands becomes what is asked for.
func solveChange(c *cli.Context, cmd *cobra.Command, q *question, f *changeFlags, explain bool) error {
	if err := cli.Need(cmd, "from"); err != nil {
		return err
	}
	s, err := readStanding(c, f.from)
	if err != nil {
		return err
	}
	r, err := f.request(cmd, q, s)
	if err != nil {
		return err
	}
	known, err := q.Load()
	if err != nil {
		return err
	}
	ctx, cancel := q.bounded(cmd.Context())
	defer cancel()
	start := time.Now()
	found, err := change.New().Change(ctx, known, r)
	took := time.Since(start)
	switch {
	case noLayout(err) && explain:
		return q.explainedChange(cmd.Context(), known, r, err)
	case noLayout(err):
		return &cli.Unsolvable{Refusal: err, Advice: "Run it again with --explain to see why, and what would work."}
	case err != nil:
		return err
	case c.JSON():
		return c.PrintJSON(changeForm(found))
	}
	change.Text(c.Stdout, found)
	tellTime(c, took)
	return nil
}

// changeForm is a change whose lists are lists in JSON too.
func changeForm(change layout.LayoutChange) layout.LayoutChange {
	change.Nodes = slices.Clone(change.Nodes)
	for i := range change.Nodes {
		change.Nodes[i].Services = cli.OrNone(change.Nodes[i].Services)
	}
	if change.Nodes == nil {
		change.Nodes = []layout.ChangedNode{}
	}
	return change
}

// explainedChange says why a change cannot be: either no cluster could be as it is asked for, or it is what stands that
// is in the way.
func (q *question) explainedChange(ctx context.Context, known *template.Catalog, r layout.ChangeRequest, refused error) error {
	err := q.explained(ctx, known, wanted(r), &cli.Unsolvable{Refusal: refused})
	var u *cli.Unsolvable
	if !errors.As(err, &u) || u.Explanation == nil || !cli.Empty(*u.Explanation) {
		return err
	}
	u.Explanation.Conflict = []layout.Clause{{Kind: "placed", Text: "what stands stays where it is"}}
	u.Explanation.Minimal = true // without it there is a layout: the explainer found nothing to explain
	ctx, cancel := q.bounded(ctx)
	defer cancel()
	anew, moving := wanted(r), r
	moving.AllowMoves = true
	if change, err := change.New().Change(ctx, known, moving); err == nil && !r.AllowMoves {
		u.Explanation.Fixes = append(u.Explanation.Fixes, layout.Fix{
			Text: fmt.Sprintf("allow that services are moved (--allow-moves); %s would be touched", humanize.Count(change.Touched, "machine"))})
	}
	u.Explanation.Fixes = append(u.Explanation.Fixes, layout.Fix{Text: fmt.Sprintf("a new cluster of %s instead", humanize.Count(anew.Size, "node")), Request: &anew})
	return u
}

// wanted is a new cluster like the one that the change would lead to.
func wanted(r layout.ChangeRequest) layout.LayoutRequest {
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
	return layout.LayoutRequest{
		Template: r.Template, Provider: r.Provider, Services: cli.SortedKeys(services), Size: cmp.Or(r.Size, len(r.Nodes)),
		Hardware: r.Hardware, Image: r.Image, Prefer: r.Prefer,
	}
}
