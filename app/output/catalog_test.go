package output_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/file/catalog"
	"muster/app/output"
	"muster/app/template"
)

// withAddresses is a database in which nodes have the addresses 10.0.0.1, 10.0.0.2 and so on.
type withAddresses struct{ output.Store }

func (s withAddresses) Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error) {
	list, err := s.Store.Nodes(ctx, tenant, cluster)
	for i := range list {
		list[i].Hostname = fmt.Sprintf("n%d.example.test", i+1)
		list[i].Addresses = map[string]string{app.AddressBind: fmt.Sprintf("10.0.0.%d", i+1)}
	}
	return list, err
}

// Every template of the examples has outputs, and each of them has a value as soon as its nodes have addresses, or
// the service that reports it has.
func TestTemplatesOfTheExamplesHaveOutputs(t *testing.T) {
	c, err := catalog.Load(catalog.Options{}, "../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	b := harness.New(t)
	b.Services.Outputs.Store = withAddresses{b.Services.Outputs.Store}
	ada, secrets := b.Actor("ada", app.RoleUser), 0
	for name, tmpl := range c.Templates {
		if tmpl.Partial {
			continue
		}
		if len(tmpl.Outputs) == 0 {
			t.Errorf("template %s has no outputs", name)
			continue
		}
		services := append(slices.Clone(tmpl.Defaults.Services), "base")
		n := apptest.NewCluster(app.DefaultTenant, name, 2, b.Clock.Now(), apptest.Chain(2))
		n.Cluster.Services = services
		n.Definition.Config, n.Definition.Outputs = template.MergeConfig(tmpl.Defaults.Config, nil), tmpl.Outputs
		for i := range n.Nodes {
			n.Nodes[i].Node.Services, n.Nodes[i].Node.Status = services, app.NodeReady
		}
		if _, err := b.Store.CreateCluster(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		list, err := b.Services.Outputs.RevealOutputs(t.Context(), ada, n.Cluster.ID, nil)
		if err != nil || len(list.Outputs) != len(tmpl.Outputs) {
			t.Errorf("%s: %d outputs of %d, %v", name, len(list.Outputs), len(tmpl.Outputs), err)
		}
		for _, o := range list.Outputs {
			if o.Missing != "" && !strings.Contains(o.Missing, "hasn't reported") || strings.ContainsAny(o.Value, "%$") {
				t.Errorf("%s: %+v", name, o)
			}
			if o.Description == "" || len(o.Description) > 100 {
				t.Errorf("%s: output %s has the description %q", name, o.Name, o.Description)
			}
			if o.Secret {
				secrets++
			}
			if name == "kafka" && o.Value != "10.0.0.1:9092,10.0.0.2:9092" {
				t.Errorf("%+v", o)
			}
		}
	}
	if secrets < 10 {
		t.Errorf("only %d secret outputs", secrets)
	}
}
