package portal

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/template"
	clusterpage "muster/portal/cluster"
	"muster/portal/page"
)

// clusterAccess is the page of all ways into a cluster's machines.
func (p *Portal) clusterAccess(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	c := clusterpage.Access{
		View: v, Tabs: p.clusterTabs(a, v, "access"), Format: template.InventoryFormat(q.Get("format")), Key: strings.TrimSpace(q.Get("key")),
		May: a.MayIn("ClusterKey", v.Cluster), SignIn: a.MayIn("ClusterCertificate", v.Cluster), URL: p.url,
	}
	if !slices.Contains(template.InventoryFormats, c.Format) {
		c.Format = template.InventorySSH
	}
	status := http.StatusOK
	i, err := template.NewInventory(v, template.InventoryFiles{Key: c.Key})
	if e := app.AsError(err); err != nil && e.Field == "key" {
		c.Complaint, status = page.Complaint{Message: e.Message, Hint: e.Hint}, http.StatusUnprocessableEntity
		i, err = template.NewInventory(v, template.InventoryFiles{})
	}
	if err != nil {
		return err
	}
	c.Inventory = i
	if c.Text, _, _, err = i.File(c.Format); err != nil {
		return err
	}
	f := p.clusterFrame(r, "Access to "+v.Name)
	p.render(w, r, status, clusterpage.AccessPage(f, c))
	return nil
}

// clusterInventory is an inventory as a file.
func (p *Portal) clusterInventory(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	text, name, kind, err := inventoryFile(v, template.InventoryFormat(q.Get("format")), inventoryFiles(q))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, _ = w.Write([]byte(text))
	return nil
}

// inventoryFiles are those that a request says an inventory is to name.
func inventoryFiles(q url.Values) template.InventoryFiles {
	return template.InventoryFiles{Key: q.Get("key"), KnownHosts: q.Get("known_hosts")}
}

func inventoryFile(v app.ClusterView, f template.InventoryFormat, files template.InventoryFiles) (text, name, kind string, err error) {
	i, err := template.NewInventory(v, files)
	if err != nil {
		return "", "", "", err
	}
	return i.File(f)
}

type inventoryInput struct {
	IDInput
	Format string `query:"format" default:"json" enum:"ansible,ansible-yaml,ssh,known_hosts,hosts,json,env" doc:"In which form"`
	Key    string `query:"key" maxLength:"255" doc:"Where the cluster's private key is kept; it is named in the file, never part of it"`
	// KnownHosts is where the form known_hosts is written to.
	KnownHosts string `query:"known_hosts" maxLength:"255" doc:"Where the format known_hosts is kept; the formats ssh and ansible name it, so that ssh can check the host keys"`
}

// inventoryForm describes the format json. newAPI puts the schema into the document.
func inventoryForm(o *huma.Operation) {
	o.Responses["200"].Content[mediaJSON].Schema = &huma.Schema{Ref: "#/components/schemas/Inventory"}
}

func (p *Portal) apiInventory(ctx context.Context, in *inventoryInput) (*huma.StreamResponse, error) {
	v, err := p.muster.Cluster(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	text, _, kind, err := inventoryFile(v, template.InventoryFormat(in.Format), template.InventoryFiles{Key: in.Key, KnownHosts: in.KnownHosts})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humachi.Unwrap(hc)
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
	}}, nil
}
