package operation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/secret"
	"muster/app/template"
	clusterpage "muster/portal/cluster"
	"muster/portal/page"
	"muster/portal/quarantine"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// changeForm is the form for a change while it's being filled in.
type changeForm struct {
	catalog *template.Catalog
	page    Update
	ask     appcluster.Update
	whole   bool // complete enough for a preview
}

func (f *changeForm) title(kind, name string) string {
	return site.TitlesOf(f.catalog)(kind, name)
}

func (f *changeForm) complain(message, hint string) {
	if f.page.Complaint.Message == "" {
		f.page.Complaint = page.Complaint{Message: message, Hint: hint}
	}
}

func (p *Service) postedUpdateForm(r *http.Request, a app.Actor) (*changeForm, error) {
	if err := site.Form(r); err != nil {
		return nil, err
	}
	if kind := app.OperationKind(r.PostForm.Get("kind")); !slices.Contains(app.Updates, kind) {
		return nil, &app.Error{Code: app.EInvalid, Field: "kind", Message: "Unknown change.", Hint: "Go back to the cluster and choose a change."}
	}
	return p.newUpdateForm(r.Context(), a, chi.URLParam(r, "id"), r.PostForm)
}

// newUpdateForm reads the form and sets its options. Nothing typed is lost, even if invalid.
func (p *Service) newUpdateForm(ctx context.Context, a app.Actor, cluster string, in url.Values) (*changeForm, error) {
	v, err := p.Clusters.Cluster(ctx, a, cluster)
	if err != nil {
		return nil, err
	}
	c, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return nil, err
	}
	f := &changeForm{catalog: c, page: Update{Now: p.Now(), View: v}}
	f.ask = appcluster.Update{Kind: app.OperationKind(in.Get("kind")), PlanHash: in.Get("plan_hash")}
	f.page.Form.Kind = f.ask.Kind
	f.whole = true
	switch f.ask.Kind {
	case app.OperationResize:
		if f.readKeptMachine(in); f.ask.KeptMachine == "" {
			f.readSize(in)
			f.nodes(in)
			f.machines(in)
		}
	case app.OperationAddServices, app.OperationRemoveServices:
		f.services(in)
		f.whole = len(f.ask.Services) > 0
	case app.OperationStart, app.OperationStop, app.OperationRestart, app.OperationCompare:
		f.services(in)
		f.nodes(in)
	case app.OperationRepair:
		f.nodes(in)
	case app.OperationRun:
		if in, err = f.readAgain(ctx, p.Runs, a, in); err != nil {
			return nil, err
		}
		if in.Get("action") == "" { // which says itself on which services' nodes it runs
			f.services(in)
		}
		f.nodes(in)
		if err := p.readCommand(ctx, a, f, in); err != nil {
			return nil, err
		}
	case app.OperationReconfigure:
		f.readParameters(in)
		f.ask.NoRestart = in.Get("no_restart") != ""
		f.page.Form.NoRestart = f.ask.NoRestart
		if err := f.readConfig(ctx, p.Specs, a, in); err != nil {
			return nil, err
		}
	}
	f.readBatch(in)
	f.readKeepFailed(in)
	if err := f.readVolumes(ctx, p.Volumes, a, in); err != nil {
		return nil, err
	}
	f.readOnFailure(in)
	return f, nil
}

// readSize reads the number of nodes; the plus and minus buttons change it by one.
func (f *changeForm) readSize(in url.Values) {
	o := &f.page.Form
	if t := f.catalog.Templates[f.page.View.Template]; t != nil {
		o.SizeHint = page.Sizes(t.Constraints.Size)
	}
	o.Size = strings.TrimSpace(in.Get("size"))
	named := len(chosen(in["nodes"])) > 0
	if o.Size == "" {
		if f.whole = named; !named {
			o.Size = strconv.Itoa(f.page.View.Size)
		}
		return
	}
	size, err := strconv.Atoi(o.Size)
	if by, _ := strconv.Atoi(in.Get("by")); err == nil {
		size += by
		o.Size = strconv.Itoa(size)
	}
	switch {
	case err != nil || size < 1 || size > maxNodes:
		f.complain("The number of nodes must be a whole number of at least 1.", "To remove all nodes, delete the cluster.")
	case named && size == f.page.View.Size:
		o.Size = "" // the size wasn't edited: the selected nodes are removed
	default:
		f.ask.Size = size
	}
}

// readKeptMachine reads which kept machine is used again, as a new node: there is nothing else to choose about that.
func (f *changeForm) readKeptMachine(in url.Values) {
	f.ask.KeptMachine = strings.TrimSpace(in.Get("kept_machine"))
	f.page.Form.KeptMachine = f.ask.KeptMachine
}

func (f *changeForm) readBatch(in url.Values) {
	o := &f.page.Form
	if o.Batch = strings.TrimSpace(in.Get("batch")); o.Batch == "" {
		return
	}
	n, err := strconv.Atoi(o.Batch)
	if err != nil || n < 1 || n > maxNodes {
		f.complain("The number of nodes at a time must be a whole number of at least 1.", "Leave the field empty for the default.")
		return
	}
	f.ask.Batch = n
}

// readKeepFailed reads for how long failed machines are kept, where the change may delete some.
func (f *changeForm) readKeepFailed(in url.Values) {
	if f.ask.Kind != app.OperationRepair && f.ask.Kind != app.OperationResize {
		return
	}
	f.ask.KeepFailed = template.KeepTime(in.Get("keep_failed"))
	f.page.Form.KeepFailed = quarantine.Choices(string(f.ask.KeepFailed), "Cluster's setting (default)")
	if err := f.ask.KeepFailed.Check(); err != nil {
		f.complain("Unknown choice for Failed machines.", "Choose one from the list.")
		f.ask.KeepFailed = ""
	}
}

// readVolumes reads what happens to volumes, where the cluster has some and the change may remove nodes or services.
func (f *changeForm) readVolumes(ctx context.Context, all site.Volumes, a app.Actor, in url.Values) error {
	if f.ask.Kind != app.OperationResize && f.ask.Kind != app.OperationRemoveServices {
		return nil
	}
	has, err := volumesOf(ctx, all, a, f.page.View.ID)
	if err != nil || len(has) == 0 {
		return err
	}
	f.ask.Volumes = template.VolumeChoice(in.Get("volumes"))
	if f.ask.Volumes.Check() != nil {
		f.complain("Unknown choice for Volumes.", "Choose one from the list.")
		f.ask.Volumes = ""
	}
	f.page.Form.Volumes = []page.Choice{{Label: "As each volume says (default)"}, {Value: string(template.VolumeKeep), Label: "Keep for 30 days"},
		{Value: string(template.VolumeDelete), Label: "Delete with all data"}}
	for i, c := range f.page.Form.Volumes {
		f.page.Form.Volumes[i].Chosen = c.Value == string(f.ask.Volumes)
	}
	return nil
}

func (f *changeForm) readOnFailure(in url.Values) {
	if f.ask.Kind == app.OperationRepair || f.ask.Kind == app.OperationRun {
		return // machines that are deleted can't be restored, and a command can't be undone
	}
	f.ask.OnFailure = app.FailureChoice(in.Get("on_failure"))
	makes := f.ask.Kind == app.OperationResize
	f.page.Form.OnFailures = clusterpage.FailureChoices(string(f.ask.OnFailure), makes, nil)
	f.page.Form.MinAvailable = strings.TrimSpace(in.Get("min_available"))
	if !clusterpage.ChoosesFailure(string(f.ask.OnFailure)) {
		f.complain("Unknown choice for On failure.", "Choose one from the list.")
		return
	}
	if !makes {
		return
	}
	f.ask.MinAvailable = template.NodeShare(f.page.Form.MinAvailable)
	if err := f.ask.PartialOverride.Check(f.ask.OnFailure); err != nil {
		e := app.AsError(err)
		f.complain(e.Message, e.Hint)
	}
}

// chosen returns each value once, in order.
func chosen(values []string) []string {
	values = slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" })
	slices.Sort(values)
	return slices.Compact(values)
}

// services offers the services that can be added, or those of the cluster.
func (f *changeForm) services(in url.Values) {
	f.ask.Services = chosen(in["services"])
	n := &clusterpage.Form{Catalog: f.catalog}
	if f.ask.Kind == app.OperationAddServices {
		f.page.Form.Services = clusterpage.Addable(n, f.page.View, f.ask.Services)
		return
	}
	for _, s := range f.page.View.Services {
		f.page.Form.Services = append(f.page.Form.Services, page.Choice{Value: s, Label: n.Title("service", s), Help: n.Description(s), Chosen: slices.Contains(f.ask.Services, s)})
	}
}

// nodesOffered is how many nodes can be selected; more can be named by address or API.
const nodesOffered = 200

func (f *changeForm) nodes(in url.Values) {
	f.ask.Nodes = chosen(in["nodes"])
	o := &f.page.Form
	o.OpenNodes = len(f.ask.Nodes) > 0
	for _, n := range f.page.View.Nodes {
		ticked := slices.Contains(f.ask.Nodes, n.Name)
		if n.Status != app.NodeDeleted && !n.Leaving && (len(o.Nodes) < nodesOffered || ticked) {
			o.Nodes = append(o.Nodes, page.Choice{Value: n.Name, Label: n.Name, Help: strings.Join(n.Services, ", "), Chosen: ticked})
		}
	}
}

// machines offers hardware and images for new nodes.
func (f *changeForm) machines(in url.Values) {
	t := f.catalog.Templates[f.page.View.Template]
	f.ask.Hardware, f.ask.Image = in.Get("hardware"), in.Get("image")
	if t == nil {
		return
	}
	n := &clusterpage.Form{Catalog: f.catalog}
	o := &f.page.Form
	o.Hardwares = n.Choices("hardware", clusterpage.Allowed(f.catalog.Hardware, t.Compatibility.Hardware, nil), "", f.ask.Hardware)
	o.Images = n.Choices("image", clusterpage.Allowed(f.catalog.Images, t.Compatibility.Images, nil), "", f.ask.Image)
	o.Hardwares[0].Label, o.Images[0].Label = "Same as existing nodes", "Same as existing nodes"
	o.OpenMachines = f.ask.Hardware != "" || f.ask.Image != ""
}

// readConfig reads the changes of the configuration: the difference between the text as it was shown and as edited,
// or, from the form that applies the change, the difference itself.
func (f *changeForm) readConfig(ctx context.Context, m site.Specs, a app.Actor, in url.Values) error {
	o := &f.page.Form
	now, err := m.ClusterConfig(ctx, a, f.page.View.ID)
	if err != nil {
		return err
	}
	o.Base = configText(now)
	o.Config = o.Base
	switch {
	case in.Has("overlay"):
		if f.ask.Config, err = objectOf(in.Get("overlay")); err != nil {
			f.complain("Invalid configuration change.", "Edit the configuration again below.")
			return nil //nolint:nilerr // shown in the form
		}
		o.Config = configText(laidOver(now, f.ask.Config))
	case !in.Has("config"):
		f.whole = len(f.ask.Parameters) > 0
		return nil
	default:
		return f.readEdited(in)
	}
	return nil
}

func (f *changeForm) readEdited(in url.Values) error {
	o := &f.page.Form
	// Browsers send lines with carriage returns.
	o.Config = strings.ReplaceAll(in.Get("config"), "\r\n", "\n")
	base, err := objectOf(in.Get("base"))
	if err != nil {
		base, err = objectOf(o.Base)
	} else {
		o.Base = configText(base)
	}
	if err != nil {
		return err
	}
	edited, err := objectOf(o.Config)
	if err != nil {
		f.complain("Invalid JSON: "+humanize.PlainError(err)+".", "Put keys and strings in double quotes, and separate entries with commas.")
		return nil
	}
	f.ask.Config = difference(base, edited)
	switch {
	case len(f.ask.Config)+len(f.ask.Parameters) == 0 && len(f.page.Errors) == 0:
		f.complain("No changes.", "Change a value, or add or remove a key.")
	case holds(f.ask.Config, secret.HiddenValue):
		f.complain("A hidden value ("+secret.HiddenValue+") can't be moved or be part of a changed list.", "Replace it with the actual value.")
	}
	return nil
}

// objectOf reads one JSON object.
func objectOf(text string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var out map[string]any
	switch err := dec.Decode(&out); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("unexpected end")
	case err != nil:
		return nil, err
	case out == nil:
		return nil, errors.New("must be an object, not null")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected text after the object")
	}
	return out, nil
}

// configText writes a configuration for people to edit.
func configText(config map[string]any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if config == nil {
		config = map[string]any{}
	}
	if err := enc.Encode(config); err != nil {
		return "{}"
	}
	return strings.TrimSpace(b.String())
}

// difference returns the overlay that turns base into edited, map by map; null removes a key.
func difference(base, edited map[string]any) map[string]any {
	out := map[string]any{}
	for k := range base {
		if _, kept := edited[k]; !kept {
			out[k] = nil
		}
	}
	for k, v := range edited {
		was, had := base[k]
		a, aMap := was.(map[string]any)
		b, bMap := v.(map[string]any)
		switch {
		case aMap && bMap:
			if d := difference(a, b); len(d) > 0 {
				out[k] = d
			}
		case !had || !reflect.DeepEqual(was, v):
			out[k] = v
		}
	}
	return out
}

// laidOver applies the result of difference.
func laidOver(base, overlay map[string]any) map[string]any {
	out := make(map[string]any, len(base))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range overlay {
		a, aMap := out[k].(map[string]any)
		b, bMap := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, k)
		case aMap && bMap:
			out[k] = laidOver(a, b)
		default:
			out[k] = v
		}
	}
	return out
}

// holds reports whether a value contains a text at any depth.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case map[string]any:
		for _, x := range v {
			if holds(x, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return holds(x, text) })
	}
	return false
}
