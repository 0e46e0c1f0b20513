package portal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/output"
	"muster/app/plan"
	"muster/app/sshaccess"
	"muster/app/template"
	"muster/app/volume"
)

// fake is a Muster in memory. Its solver puts the first service on node 1 and the others on the rest; its planner
// knows the usual order. Nothing moves unless a test says so.
type fake struct {
	everything // what a fake doesn't have: asked for it, it panics

	now func() time.Time

	volumes []volume.Volume

	mu       sync.Mutex
	catalog  *template.Catalog
	clusters []*cluster.View
	steps    map[int64][]app.Step
	events   map[string][]app.Event
	logs     map[string][]app.LogLine
	watchers map[app.Topic]map[chan struct{}]bool
	signIns  []string // by number, whose; "" where it was ended
	seq      int64
	operable int64
	broken   error                   // what every use case but SignIn answers, when set
	asked    []cluster.CreateRequest // what CreateCluster was called with
}

func newFake(now func() time.Time) *fake {
	f := &fake{
		now: now, catalog: template.NewCatalog(), steps: map[int64][]app.Step{}, events: map[string][]app.Event{},
		logs: map[string][]app.LogLine{}, watchers: map[app.Topic]map[chan struct{}]bool{},
	}
	c := f.catalog
	for _, s := range [][2]string{{"namenode", "Name node"}, {"datanode", "Data node"}, {"nodemanager", "Node manager"}, {"haproxy", "HAProxy"}, {"web", "Web server"}, {"postgres", "PostgreSQL"}} {
		c.Services[s[0]] = &template.Service{About: template.About{Name: s[0], Label: s[1], Description: s[1] + " as packaged"}}
	}
	c.Providers["sandbox"] = &template.ProviderSpec{About: template.About{Name: "sandbox", Label: "Sandbox"}, Type: "sandbox"}
	c.Providers["ocean"] = &template.ProviderSpec{About: template.About{Name: "ocean", Label: "Ocean account"}, Type: "digitalocean"}
	for _, h := range []string{"small", "medium", "large"} {
		c.Hardware[h] = &template.HardwareType{About: template.About{Name: h}}
	}
	c.Images["debian12"] = &template.ImageType{About: template.About{Name: "debian12", Label: "Debian 12"}}
	c.Images["ubuntu24"] = &template.ImageType{About: template.About{Name: "ubuntu24", Label: "Ubuntu 24.04"}}
	c.Templates["hadoop"] = &template.Template{
		About:       template.About{Name: "hadoop", Label: "Hadoop", Description: "Storage and jobs over many nodes. Data stays on the nodes and is copied three times."},
		Defaults:    template.Defaults{Services: []string{"namenode", "datanode", "nodemanager"}, Provider: "sandbox", Hardware: "medium", Image: "debian12"},
		Constraints: template.Constraints{Size: template.SizeRange{Min: 2, Max: 50}},
		Lease:       template.Lease{Initial: 24 * time.Hour, Max: 7 * 24 * time.Hour},
	}
	c.Templates["web"] = &template.Template{
		About:         template.About{Name: "web", Label: "Web with a load balancer", Description: "One balancer before any number of web servers."},
		Defaults:      template.Defaults{Services: []string{"haproxy", "web"}, Provider: "sandbox", Image: "ubuntu24"},
		Compatibility: template.Compatibility{Services: []string{"haproxy", "web", "postgres"}},
		Constraints:   template.Constraints{Size: template.SizeRange{Min: 2, Max: template.Unlimited}},
		Lease:         template.Lease{Initial: 0},
	}
	c.Templates["single"] = &template.Template{
		About:       template.About{Name: "single", Label: "One database", Description: "PostgreSQL on a machine of its own."},
		Defaults:    template.Defaults{Services: []string{"postgres"}, Provider: "sandbox", Hardware: "large", Image: "debian12"},
		Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 1}},
		Lease:       template.Lease{Initial: 8 * time.Hour},
	}
	return f
}

var fakeRoles = map[string]app.Role{"ada": app.RoleUser, "root": app.RoleSuperadmin, "vera": app.RoleViewer}

func (f *fake) SignIn(_ context.Context, tenant, user, password string, _ identity.Visit) (identity.Session, error) {
	if tenant != app.DefaultTenant || password != "correct horse" || fakeRoles[user] == "" {
		return identity.Session{}, app.Errorf(app.EUnauthorized, "User and password do not fit together.")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signIns = append(f.signIns, user)
	return identity.Session{ID: int64(len(f.signIns)), Tenant: tenant, User: user}, nil
}

func (f *fake) ActorOfSession(_ context.Context, id int64, _ identity.Visit) (app.Actor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if user := f.signIns[id-1]; user != "" {
		return app.Actor{Tenant: app.DefaultTenant, User: user, Role: fakeRoles[user]}, nil
	}
	return app.Actor{}, app.Errorf(app.EUnauthorized, "This session was ended.")
}

func (f *fake) SignOut(_ context.Context, id int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signIns[id-1] = ""
	return nil
}

func (f *fake) ActorOfToken(_ context.Context, token, _ string) (app.Actor, error) {
	if user, ok := strings.CutPrefix(token, "token-of-"); ok {
		if user == "root" {
			return app.Actor{Tenant: app.DefaultTenant, User: user, Role: app.RoleSuperadmin}, nil
		}
		return app.Actor{Tenant: app.DefaultTenant, User: user, Role: app.RoleUser}, nil
	}
	return app.Actor{}, app.Errorf(app.EUnauthorized, "This token doesn't exist.")
}

func (f *fake) Catalog(context.Context, app.Actor) (*template.Catalog, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.catalog, f.broken
}

func (f *fake) Preview(_ context.Context, _ app.Actor, r cluster.CreateRequest) (cluster.Preview, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.preview(r)
}

func (f *fake) preview(r cluster.CreateRequest) (cluster.Preview, error) {
	if f.broken != nil {
		return cluster.Preview{}, f.broken
	}
	t := f.catalog.Templates[r.Template]
	if t == nil {
		return cluster.Preview{}, &app.Error{Code: app.ENotFound, Reason: "missing_template", Message: "Template " + r.Template + " doesn't exist."}
	}
	if s := t.Constraints.Size; !s.Allows(r.Size) {
		return cluster.Preview{}, &app.Error{
			Code: app.EInvalid, Reason: "size", Message: s.Refusal(r.Size),
		}
	}
	services := t.Defaults.Services
	if len(r.Services) > 0 {
		services = r.Services
	}
	hardware := cmp.Or(r.Hardware, t.Defaults.Hardware, "small")
	image := cmp.Or(r.Image, t.Defaults.Image)
	l := layout.Layout{Provider: cmp.Or(r.Provider, t.Defaults.Provider), CostPerHour: 0.12 * float64(r.Size)}
	head, rest := services[:1], slices.Sorted(slices.Values(services[1:]))
	if len(rest) == 0 {
		rest = head
	}
	l.Groups = append(l.Groups, layout.NodeGroup{Count: 1, Hardware: hardware, Image: image, Services: head, CostPerHour: 0.12})
	if r.Size > 1 {
		l.Groups = append(l.Groups, layout.NodeGroup{Count: r.Size - 1, Hardware: hardware, Image: image, Services: rest, CostPerHour: 0.12 * float64(r.Size-1)})
	}
	v := cluster.Preview{Template: r.Template, Layout: l, Plan: createPlan(l), Lease: t.Lease.Initial}
	if r.Lease != nil {
		v.Lease = *r.Lease
	}
	v.PlanHash, v.Duration = v.Plan.Hash(), v.Plan.Duration()
	v.Cost = l.CostPerHour * v.Lease.Hours()
	return v, nil
}

var took = map[app.Action]time.Duration{
	app.ActionCreate: 25 * time.Second, app.ActionConfirm: 35 * time.Second, app.ActionBootstrap: 20 * time.Second,
	app.ActionInstall: 50 * time.Second, app.ActionConfigure: 8 * time.Second, app.ActionInitialize: 12 * time.Second,
	app.ActionStart: 6 * time.Second, app.ActionDelete: 15 * time.Second,
}

// createPlan works node by node, and lets the first node's start come before every other start.
func createPlan(l layout.Layout) plan.Plan {
	p := plan.Plan{Kind: app.OperationCreate}
	first := -1
	for k, n := range plan.Nodes(l) {
		last := -1
		add := func(a app.Action, service string) {
			s := plan.Step{Node: n.Name, Action: a, Service: service, ID: n.Name + "." + string(a)}
			if service != "" {
				s.ID = n.Name + "." + service + "." + string(a)
			}
			if last >= 0 {
				s.Needs = append(s.Needs, last)
			}
			if a == app.ActionStart && k > 0 && first >= 0 {
				s.Needs = append(s.Needs, first)
			}
			last = len(p.Steps)
			p.Steps = append(p.Steps, s)
		}
		add(app.ActionCreate, "")
		add(app.ActionConfirm, "")
		add(app.ActionBootstrap, "")
		for _, s := range n.Services {
			for _, a := range []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart} {
				if a == app.ActionInitialize && s != "namenode" && s != "postgres" {
					continue
				}
				add(a, s)
			}
		}
		if k == 0 {
			first = len(p.Steps)
			p.Steps = append(p.Steps, plan.Step{ID: "all.ready", Join: true, Needs: []int{last}})
		}
	}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		s := &p.Steps[i]
		if !s.Join {
			s.Rank += took[s.Action]
		}
		for _, n := range s.Needs {
			p.Steps[n].Rank = max(p.Steps[n].Rank, s.Rank)
		}
	}
	return p
}

func (f *fake) CreateCluster(_ context.Context, a app.Actor, r cluster.CreateRequest) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	if a.Role == app.RoleViewer {
		return cluster.View{}, app.Errorf(app.EForbidden, "You may look, but not create.")
	}
	v, err := f.preview(r)
	if err != nil {
		return cluster.View{}, err
	}
	if r.Name == "" {
		return cluster.View{}, &app.Error{Code: app.EInvalid, Field: "name", Message: "The cluster needs a name.", Hint: "Small letters and digits."}
	}
	if r.PlanHash != "" && r.PlanHash != v.PlanHash {
		return cluster.View{}, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed."}
	}
	for _, c := range f.clusters {
		if c.Name == r.Name && c.Status != app.ClusterDeleted {
			return cluster.View{}, &app.Error{Code: app.EConflict, Field: "name", Message: "There is a cluster " + r.Name + " already.", Hint: "Choose another name."}
		}
	}
	return f.create(a, r, v), nil
}

func (f *fake) create(a app.Actor, r cluster.CreateRequest, v cluster.Preview) cluster.View {
	c := &cluster.View{Cluster: app.Cluster{
		ID: fmt.Sprintf("c%02d", len(f.clusters)+1), Tenant: a.Tenant, Name: r.Name, Owner: a.User, Template: r.Template,
		Provider: v.Layout.Provider, Size: r.Size, Status: app.ClusterPending, CostPerHour: v.Layout.CostPerHour,
		DNSSuffix: "muster.example", CreatedAt: f.now(), Visibility: app.VisibleTenant,
	}}
	if v.Lease > 0 {
		c.ExpiresAt = f.now().Add(v.Lease)
	}
	seen := map[string]bool{}
	for i, n := range plan.Nodes(v.Layout) {
		g := v.Layout.Groups[min(i, len(v.Layout.Groups)-1)]
		c.Nodes = append(c.Nodes, app.Node{
			Cluster: c.ID, Name: n.Name, Hostname: n.Name + "-" + c.ID + ".muster.example", Hardware: g.Hardware, Image: g.Image,
			Services: n.Services, Status: app.NodePlanned,
		})
		for _, s := range n.Services {
			seen[s] = true
		}
	}
	c.Services = slices.Sorted(maps.Keys(seen))
	f.clusters = append(f.clusters, c)
	f.operate(c, a, v.Plan)
	return *c
}

// operate adds an operation to a cluster, with its first steps ready.
func (f *fake) operate(c *cluster.View, a app.Actor, p plan.Plan) {
	f.operable++
	op := app.Operation{
		ID: f.operable, Tenant: c.Tenant, Cluster: c.ID, Kind: p.Kind, Status: app.OperationRunning, PlanHash: p.Hash(),
		Requester: a.User, Total: p.Acts(), CreatedAt: f.now(), StartedAt: f.now(), Expected: p.Duration(),
	}
	c.Operations = append([]app.Operation{op}, c.Operations...)
	c.Status = app.ClusterPending
	for i, s := range p.Steps {
		st := app.Step{Operation: op.ID, Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, State: app.StepWaiting, Needs: s.Needs, Join: s.Join, Rank: s.Rank}
		if len(s.Needs) == 0 {
			st.State = app.StepReady
		}
		f.steps[op.ID] = append(f.steps[op.ID], st)
	}
	f.tell(c.ID, app.Event{Kind: app.EventOperation, Operation: op.ID, Status: string(op.Status), Total: op.Total})
}

// advance carries out up to n steps of the latest operation and leaves what comes next running. It reports whether there
// is more to do.
func (f *fake) advance(id string, n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.find(id)
	op := &c.Operations[0]
	steps := f.steps[op.ID]
	ended := 0
	for moved := true; moved && ended < n; {
		moved = false
		for i := range steps {
			s := &steps[i]
			if s.State.Ended() || !f.met(steps, s) {
				continue
			}
			if !s.Join && ended == n {
				continue
			}
			s.State, s.Attempt, moved = app.StepSucceeded, max(1, s.Attempt), true
			s.StartedAt, s.EndedAt = cmp.Or(s.StartedAt, f.now()), f.now()
			if s.Join {
				continue
			}
			ended++
			op.Done++
			f.apply(c, s)
			f.tell(id, app.Event{Kind: app.EventStep, Operation: op.ID, Step: s.ID, Node: s.Node, Status: string(s.State), Done: op.Done, Total: op.Total})
		}
	}
	busy := map[string]bool{}
	for i := range steps {
		s := &steps[i]
		if s.Join || s.State.Ended() || !f.met(steps, s) {
			continue
		}
		switch {
		case !busy[s.Node] && len(busy)%5 != 4:
			s.State, s.Attempt, s.StartedAt = app.StepRunning, max(1, s.Attempt), f.now()
		case !busy[s.Node]:
			s.State = app.StepQueued
		default:
			s.State = app.StepReady
		}
		busy[s.Node] = true
	}
	if op.Done == op.Total {
		op.Status, op.EndedAt = app.OperationSucceeded, f.now()
		c.Status = app.ClusterActive
		if op.Kind == app.OperationDelete {
			c.Status, c.DeletedAt = app.ClusterDeleted, f.now()
		} else {
			c.Links = []app.Link{{Label: "Status page", URL: "http://10.0.0.11:8080/"}, {Label: "Evil", URL: "javascript:alert(1)"}}
		}
		f.tell(id, app.Event{Kind: app.EventCluster, Status: string(c.Status)})
		return false
	}
	return true
}

func (f *fake) met(steps []app.Step, s *app.Step) bool {
	for _, n := range s.Needs {
		if steps[n].State != app.StepSucceeded {
			return false
		}
	}
	return true
}

// apply does to the node what the step does, and says so in the log.
func (f *fake) apply(c *cluster.View, s *app.Step) {
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.Name != s.Node {
			continue
		}
		switch s.Action {
		case app.ActionCreate:
			n.Status, n.MachineID = app.NodeCreated, "m-"+n.Name
		case app.ActionConfirm:
			n.Status, n.Addresses = app.NodeReady, map[string]string{app.AddressAccess: fmt.Sprintf("10.0.0.%d", 10+i), app.AddressBind: fmt.Sprintf("10.9.0.%d", 10+i)}
			n.SSHPort = 2222
		case app.ActionDelete:
			n.Status = app.NodeDeleted
		}
	}
	f.say(c.ID, *s, family.StreamSystem, string(s.Action)+" begins")
	f.say(c.ID, *s, family.StreamOut, fmt.Sprintf("Setting up %s (1.4.2-1) ...", cmp.Or(s.Service, "machine")))
	if s.Action == app.ActionInstall {
		f.say(c.ID, *s, family.StreamErr, "debconf: delaying package configuration, since apt-utils is not installed")
	}
}

func (f *fake) say(id string, s app.Step, stream app.Stream, text string) {
	f.seq++
	f.logs[id] = append(f.logs[id], app.LogLine{
		Seq: f.seq, At: f.now(), Operation: s.Operation, Index: s.Index, Attempt: s.Attempt, Step: s.ID, Node: s.Node, Stream: stream, Text: text,
	})
	f.wake(app.ClusterTopic(id))
}

// failStep lets a step that has not ended fail, and the operation with it.
func (f *fake) failStep(id, step, message string, lines ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.find(id)
	op := &c.Operations[0]
	steps := f.steps[op.ID]
	for i := range steps {
		s := &steps[i]
		if s.ID == step {
			s.State, s.Attempt, s.ErrorCode, s.Error = app.StepFailed, 3, app.EScript, message
			for _, l := range lines {
				f.say(id, *s, family.StreamErr, l)
			}
		} else if !s.State.Ended() {
			s.State = app.StepDropped
		}
	}
	op.Status, op.EndedAt = app.OperationFailed, f.now()
	c.Status, c.Message = app.ClusterFailed, "Create failed at "+step+"."
	f.tell(id, app.Event{Kind: app.EventCluster, Status: string(c.Status)})
}

func (f *fake) tell(id string, e app.Event) {
	f.seq++
	e.Seq, e.At, e.Cluster = f.seq, f.now(), id
	f.events[id] = append(f.events[id], e)
	f.wake(app.ClusterTopic(id))
	f.wake(app.TenantTopic(app.DefaultTenant))
}

func (f *fake) wake(topic app.Topic) {
	for ch := range f.watchers[topic] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (f *fake) find(id string) *cluster.View {
	for _, c := range f.clusters {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// view returns a copy that later changes do not reach.
func (f *fake) view(id string) (cluster.View, error) {
	if f.broken != nil {
		return cluster.View{}, f.broken
	}
	c := f.find(id)
	if c == nil {
		return cluster.View{}, app.Errorf(app.ENotFound, "There is no cluster %s.", id)
	}
	v := *c
	v.Nodes, v.Operations = slices.Clone(c.Nodes), slices.Clone(c.Operations)
	if len(v.Operations) > 0 {
		open := cluster.UnfinishedOf(f.steps[v.Operations[0].ID], v.Nodes)
		v.Problem, v.Actions = cluster.TroubleOf(v, cluster.Definition{}, open), cluster.ActionsOf(v, open)
	}
	return v, nil
}

func (f *fake) Clusters(_ context.Context, a app.Actor, filter app.ClusterFilter) ([]app.ClusterSummary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []app.ClusterSummary
	for _, c := range slices.Backward(f.clusters) {
		if c.Status == app.ClusterDeleted && !filter.Deleted || filter.Name != "" && c.Name != filter.Name {
			continue
		}
		s := app.ClusterSummary{Cluster: shownTo(c.Cluster, a)}
		if len(c.Operations) > 0 {
			op := c.Operations[0]
			s.Operation = &op
		}
		out = append(out, s)
	}
	return out, f.broken
}

func (f *fake) ClusterPage(ctx context.Context, a app.Actor, filter app.ClusterFilter) (p cluster.Page, err error) {
	if !slices.Contains(app.ClusterSorts, filter.Sort) {
		return p, &app.Error{Code: app.EInvalid, Field: "sort", Message: "Clusters cannot be sorted by that."}
	}
	all, err := f.Clusters(ctx, a, app.ClusterFilter{Deleted: filter.Deleted || filter.Status == app.ClusterDeleted})
	past := filter.After == ""
	for _, c := range all {
		if past && (filter.Status == "" || c.Status == filter.Status) && (filter.Owner == "" || c.Owner == filter.Owner) &&
			(filter.Template == "" || c.Template == filter.Template) && (filter.Name == "" || c.Name == filter.Name) && strings.Contains(strings.ToLower(c.Name), strings.ToLower(filter.Text)) &&
			(filter.IDs == nil || slices.Contains(filter.IDs, c.ID)) {
			p.Clusters = append(p.Clusters, c)
		}
		past = past || c.ID == filter.After
	}
	if limit := cmp.Or(filter.Limit, 200); len(p.Clusters) > limit {
		p.Clusters = p.Clusters[:limit]
		p.Next = p.Clusters[limit-1].ID
	}
	return p, err
}

func (f *fake) ClusterCounts(ctx context.Context, a app.Actor, filter app.ClusterFilter) (app.ClusterCounts, error) {
	filter.Status, filter.After, filter.Limit = "", "", 100000
	p, err := f.ClusterPage(ctx, a, filter)
	c := app.ClusterCounts{By: map[app.ClusterStatus]int{}}
	for _, s := range p.Clusters {
		c.By[s.Status]++
		if s.Status != app.ClusterDeleted {
			c.CostPerHour += s.CostPerHour
		}
	}
	return c, err
}

func (f *fake) Cluster(_ context.Context, a app.Actor, id string) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	v.Cluster = shownTo(v.Cluster, a)
	return v, err
}

// shownTo is a cluster as a person is shown it. All of the fake's can be seen by the whole tenant.
func shownTo(c app.Cluster, a app.Actor) app.Cluster {
	c.Access = app.ClusterReader{Tenant: a.Tenant, User: a.User, Groups: a.Groups}.AccessTo(c, app.AccessNone)
	return c
}

func (f *fake) DeleteClusterWith(ctx context.Context, a app.Actor, id string, _ template.VolumeChoice) (cluster.View, error) {
	return f.DeleteCluster(ctx, a, id)
}

func (f *fake) DeleteCluster(_ context.Context, a app.Actor, id string) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.view(id); err != nil {
		return cluster.View{}, err
	}
	if a.Role == app.RoleViewer {
		return cluster.View{}, app.Errorf(app.EForbidden, "You may look, but not delete.")
	}
	c := f.find(id)
	p := plan.Plan{Kind: app.OperationDelete}
	for _, n := range c.Nodes {
		p.Steps = append(p.Steps, plan.Step{ID: n.Name + ".delete", Node: n.Name, Action: app.ActionDelete, Rank: took[app.ActionDelete]})
	}
	f.operate(c, a, p)
	return f.view(id)
}

func (f *fake) ClusterOutputs(_ context.Context, _ app.Actor, id string) (output.List, error) {
	return output.List{Cluster: id, Outputs: []output.Output{}}, nil
}

func (f *fake) ClusterKey(_ context.Context, a app.Actor, id string) (string, []byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	if err != nil {
		return "", nil, err
	}
	if a.User != v.Owner && a.Role != app.RoleSuperadmin {
		return "", nil, app.Errorf(app.EForbidden, "Only the owner may have the key.")
	}
	return "root", []byte("-----BEGIN OPENSSH PRIVATE KEY-----\nfor tests\n-----END OPENSSH PRIVATE KEY-----\n"), nil
}

func (f *fake) ClusterCertificate(_ context.Context, a app.Actor, id, publicKey string, ttl time.Duration) (sshaccess.ClusterCertificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	if err != nil {
		return sshaccess.ClusterCertificate{}, err
	}
	if a.User != v.Owner && a.Role != app.RoleSuperadmin {
		return sshaccess.ClusterCertificate{}, app.Errorf(app.EForbidden, "Only the owner may have a certificate.")
	}
	return sshaccess.ClusterCertificate{Certificate: "certificate of " + publicKey, User: "root", ValidUntil: f.now().Add(ttl), Serial: "9223372036854775807"}, nil
}

func (f *fake) Steps(_ context.Context, _ app.Actor, id string, operation int64) ([]app.Step, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	if err != nil {
		return nil, err
	}
	if operation == 0 {
		operation = v.Operations[0].ID
	}
	return slices.Clone(f.steps[operation]), nil
}

func (f *fake) Events(_ context.Context, _ app.Actor, id string, after int64, limit int) ([]app.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.view(id); err != nil {
		return nil, err
	}
	var out []app.Event
	for _, e := range f.events[id] {
		if e.Seq > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (f *fake) Logs(_ context.Context, _ app.Actor, id string, filter cluster.LogFilter) ([]app.LogLine, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.view(id); err != nil {
		return nil, err
	}
	var out []app.LogLine
	for _, l := range f.logs[id] {
		if l.Seq <= filter.After || filter.Node != "" && l.Node != filter.Node || filter.Step != "" && l.Step != filter.Step ||
			filter.Operation != 0 && l.Operation != filter.Operation || filter.Stream != "" && l.Stream != filter.Stream ||
			filter.Before != 0 && l.Seq >= filter.Before {
			continue
		}
		out = append(out, l)
	}
	limit := cmp.Or(filter.Limit, 500)
	if len(out) > limit && filter.Tail {
		out = out[len(out)-limit:]
	}
	return out[:min(len(out), limit)], nil
}

func (f *fake) SearchLogs(ctx context.Context, a app.Actor, id string, filter cluster.LogFilter) (activity.LogPage, error) {
	limit := cmp.Or(filter.Limit, 500)
	filter.Limit = 1 << 20
	lines, err := f.Logs(ctx, a, id, filter)
	lines = slices.DeleteFunc(lines, func(l app.LogLine) bool {
		return !strings.Contains(strings.ToLower(l.Text), strings.ToLower(filter.Text))
	})
	p := activity.LogPage{Lines: lines}
	if len(lines) > limit && filter.Tail {
		p.Lines = lines[len(lines)-limit:]
		p.Next = p.Lines[0].Seq
	} else if len(lines) > limit {
		p.Lines = lines[:limit]
		p.Next = p.Lines[limit-1].Seq
	}
	return p, err
}

func (f *fake) Watch(_ app.Actor, topic app.Topic) (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan struct{}, 1)
	if f.watchers[topic] == nil {
		f.watchers[topic] = map[chan struct{}]bool{}
	}
	f.watchers[topic][ch] = true
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers[topic], ch)
	}
}

// watching counts the open watches of a topic.
func (f *fake) watching(topic app.Topic) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers[topic])
}
