package cluster

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/inventory"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
)

// accessPages provide access to a cluster's machines: keys, certificates, inventories.
type accessPages struct {
	*site.Site
}

func (p *accessPages) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/access", p.Show),
		site.Show("/clusters/{id}/inventory", p.Inventory),
		site.Show("/clusters/{id}/key", p.Key),
	}
}

func (p *accessPages) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/inventory", p.APIInventory,
			site.About("Export a cluster's inventory for other tools"), site.Files("The inventory", "text/plain", site.MediaJSON), inventoryForm),
		site.Get("/clusters/{id}/key", p.APIKey, site.About("Get a cluster's private SSH key")),
		site.Post("/clusters/{id}/certificate", p.APICertificate, site.About("Get a short-lived SSH certificate for a cluster")),
	}
}

// mayOpenAll reports whether someone may have the key, which opens all nodes: also locked ones.
func mayOpenAll(a app.Actor, v cluster.View) bool {
	return a.MayIn("ClusterKey", v.Cluster) && !slices.ContainsFunc(v.Nodes, func(n app.Node) bool { return n.CheckLock(a, v.Cluster) != nil })
}

// Show is the page with the ways to sign in to a cluster's machines.
func (p *accessPages) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	c := Access{
		View: v, Tabs: p.ClusterTabs(a, v, "access"), Format: inventory.Format(q.Get("format")), Key: strings.TrimSpace(q.Get("key")),
		Actor: a, May: mayOpenAll(a, v), SignIn: a.MayIn("ClusterCertificate", v.Cluster), URL: p.URL,
	}
	if !slices.Contains(inventory.Formats, c.Format) {
		c.Format = inventory.FormatSSH
	}
	status := http.StatusOK
	i, err := inventory.NewInventory(v, inventory.Files{Key: c.Key})
	if e := app.AsError(err); err != nil && e.Field == "key" {
		c.Complaint, status = page.Complaint{Message: e.Message, Hint: e.Hint}, http.StatusUnprocessableEntity
		i, err = inventory.NewInventory(v, inventory.Files{})
	}
	if err != nil {
		return err
	}
	c.Inventory = i
	if c.Text, _, _, err = i.File(c.Format); err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Access to "+v.Name)
	p.Render(w, r, status, AccessPage(f, c))
	return nil
}

// Inventory is an inventory as a file.
func (p *accessPages) Inventory(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	text, name, kind, err := site.InventoryFile(v, inventory.Format(q.Get("format")), site.InventoryFiles(q))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, _ = w.Write([]byte(text))
	return nil
}

type inventoryInput struct {
	site.IDInput
	Format string `query:"format" default:"json" enum:"ansible,ansible-yaml,ssh,known_hosts,hosts,json,env" doc:"Output format"`
	Key    string `query:"key" maxLength:"255" doc:"Path of the cluster's private key file. The inventory names the file and never contains the key"`
	// KnownHosts is the path of the file with the format known_hosts.
	KnownHosts string `query:"known_hosts" maxLength:"255" doc:"Path of the file with the known_hosts format. The formats ssh and ansible name it so that ssh can verify host keys"`
}

// inventoryForm describes the format json. newAPI adds the schema to the document.
func inventoryForm(o *huma.Operation) {
	o.Responses["200"].Content[site.MediaJSON].Schema = &huma.Schema{Ref: "#/components/schemas/Inventory"}
}

func (p *accessPages) APIInventory(ctx context.Context, in *inventoryInput) (*huma.StreamResponse, error) {
	v, err := p.Clusters.Cluster(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	text, _, kind, err := site.InventoryFile(v, inventory.Format(in.Format), inventory.Files{Key: in.Key, KnownHosts: in.KnownHosts})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humachi.Unwrap(hc)
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
	}}, nil
}
