package offline

import (
	"bufio"
	"encoding/json"

	"github.com/spf13/cobra"
	"muster/app"
	applayout "muster/app/layout"
	appplan "muster/app/plan"
	apptemplate "muster/app/template"
	"muster/cmd/muster/cli"
	"muster/planner"
)

func PlanCommand(c *cli.Context) *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "plan --catalog DIR --template T --size N",
		Short: "Show the steps to create a cluster, and their dependencies",
		Long: "Show the steps to create a cluster, and what each depends on. Nothing is created, and no server is needed.\n\n" +
			"--format dot prints the plan for Graphviz. The exit code is 3 if no layout exists.",
		Example: "  muster plan --catalog examples/catalog --template web --size 3\n" +
			"  muster plan --catalog examples/catalog --template web --size 3 --format dot | dot -Tsvg > plan.svg",
		Args:        cli.AtMost(0),
		Annotations: map[string]string{cli.AnnotationFormats: "dot"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			catalog, layout, err := q.solve(cmd)
			if err != nil {
				return err
			}
			plan, err := planner.New().Plan(planRequest(catalog, q.layout.Request.Template, layout))
			if err != nil {
				return err
			}
			switch c.Format {
			case "json":
				return printSteps(c, plan)
			case "dot":
				return planner.Dot(c.Stdout, plan)
			}
			return planner.Text(c.Stdout, plan)
		},
	}
	q.declare(cmd)
	return cmd
}

// planRequest is the request for a create's plan.
func planRequest(catalog *apptemplate.Catalog, template string, layout applayout.Layout) appplan.Request {
	r := appplan.Request{
		Kind:     app.OperationCreate,
		Nodes:    appplan.Nodes(layout),
		Services: map[string]*apptemplate.Service{},
	}
	if t := catalog.Templates[template]; t != nil {
		r.Config = t.Defaults.Config
	}
	for _, g := range layout.Groups {
		for _, s := range g.Services {
			r.Services[s] = catalog.Services[s]
		}
	}
	return r
}

// stepJSON is one step in the output of plan; its format is stable. Needs are ids of steps that act.
type stepJSON struct {
	ID      string   `json:"id"`
	Node    string   `json:"node"`
	Action  string   `json:"action"`
	Service string   `json:"service"`
	Needs   []string `json:"needs"`
}

// printSteps writes a plan as JSON, step by step: with joins resolved, the output for thousands of nodes is far larger than the plan itself.
func printSteps(c *cli.Context, p appplan.Plan) error {
	c.Printed = true
	w := bufio.NewWriterSize(c.Stdout, 64<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	separator := `{"steps":[` + "\n"
	for i, s := range p.Steps {
		if s.Join {
			continue
		}
		_, _ = w.WriteString(separator) // a bufio.Writer keeps its error until Flush
		if err := enc.Encode(stepForm(p, i)); err != nil {
			return err
		}
		separator = ","
	}
	if separator != "," {
		_, _ = w.WriteString(separator)
	}
	_, _ = w.WriteString("]}\n")
	return w.Flush()
}

// stepForm returns step i with the ids of the steps it depends on.
func stepForm(p appplan.Plan, i int) stepJSON {
	s := p.Steps[i]
	form := stepJSON{ID: s.ID, Node: s.Node, Action: string(s.Action), Service: s.Service, Needs: []string{}}
	for _, n := range p.NeedsOf(i) {
		form.Needs = append(form.Needs, p.Steps[n].ID)
	}
	return form
}
