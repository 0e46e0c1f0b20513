package bot

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/idle"
	"muster/app/layout"
	applease "muster/app/lease"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/template"
	"muster/portal/address"
)

// someCatalog has a template with parameters of each kind.
func someCatalog() *template.Catalog {
	web := &template.Template{
		About:       template.About{Name: "web", Description: "Web servers"},
		Constraints: template.Constraints{Size: template.SizeRange{Min: 2, Max: 9}},
		Lease:       template.Lease{Initial: 8 * time.Hour, Max: 7 * 24 * time.Hour},
		Parameters: []template.Parameter{
			{Name: "port", Label: "Port", Help: "Where it listens.", Type: template.ParameterInteger, Default: 80, Min: "1", Max: "65535"},
			{Name: "tls", Type: template.ParameterBoolean, Default: true},
			{Name: "color", Type: template.ParameterChoice, Options: []template.ParameterOption{{Value: "red"}, {Value: "blue", Label: "Blue <!channel>"}}},
			{Name: "heap", Type: template.ParameterSize, Default: "512M", Max: "2G"},
			{Name: "title", Type: template.ParameterText, Required: true, Default: "hello", Max: "10"},
		},
	}
	db := &template.Template{About: template.About{Name: "db"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 3}}}
	odd := &template.Template{About: template.About{Name: "odd"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 3, Max: 7, OneOf: []int{3, 5, 7}}}}
	return &template.Catalog{Templates: map[string]*template.Template{"web": web, "db": db, "odd": odd}}
}

func (s *stub) Catalog(context.Context, app.Actor) (*template.Catalog, error) { return s.catalog, nil }

// Preview returns another plan for another request, as a planner does.
func (s *stub) Preview(_ context.Context, _ app.Actor, r cluster.CreateRequest) (cluster.Preview, error) {
	s.previews++
	if r.Size > 8 {
		return cluster.Preview{}, &app.Error{Code: app.EQuota, Field: "size", Message: "That would be too many.", Hint: "Ask for at most 8 nodes."}
	}
	lease := 8 * time.Hour
	if r.Lease != nil {
		lease = *r.Lease
	}
	cost := 0.1 * float64(r.Size)
	return cluster.Preview{Template: r.Template, PlanHash: s.hash + "/" + time.Duration(r.Size).String() + lease.String(), Lease: lease, Cost: cost * lease.Hours(), Duration: 90 * time.Second,
		Layout: layout.Layout{CostPerHour: cost, Currency: "USD", Groups: []layout.NodeGroup{{Count: r.Size, Hardware: "small", Services: []string{"web"}}}}}, nil
}

func (s *stub) QuotaLeft(context.Context, app.Actor) (policy.QuotaLeft, error) {
	return policy.QuotaLeft{Tightest: []policy.QuotaLine{{Measure: policy.MeasureClusters, Scope: policy.QuotaTenant, Limit: 5, Remaining: 2}}}, nil
}

func (s *stub) Steps(context.Context, app.Actor, string, int64) ([]app.Step, error) {
	return []app.Step{{ID: "n1.create", Node: "n1", Action: app.ActionCreate, State: app.StepSucceeded},
		{ID: "n1.web.install", Node: "n1", Action: app.ActionInstall, Service: "web", State: app.StepRunning}}, nil
}

func (s *stub) Logs(_ context.Context, _ app.Actor, _ string, f cluster.LogFilter) ([]app.LogLine, error) {
	s.filters = append(s.filters, f)
	return s.lines, nil
}

func (s *stub) Orphans(context.Context, app.Actor, bool) (fleet.OrphanReport, error) {
	return fleet.OrphanReport{Orphans: []fleet.Orphan{{Machine: "m-17", Provider: "aws", Kind: fleet.OrphanUnknown, State: fleet.OrphanReported}}}, s.refuse
}

func (s *stub) LeaseOutlook(context.Context, app.Actor, string) (applease.Outlook, error) {
	return s.outlook, s.refuse
}

func (s *stub) ClusterIdle(_ context.Context, _ app.Actor, id string) (idle.View, error) {
	return idle.View{Cluster: id, Name: id, State: "warned", Policy: &idle.PolicyView{}, MayKeep: true, KeepSeconds: 7200, Reasons: []string{}, ActAt: time.Unix(3600, 0)}, nil
}

func (s *stub) KeepCluster(_ context.Context, _ app.Actor, id string, by time.Duration) (idle.View, error) {
	return idle.View{Cluster: id, Name: id, State: "in_use", MayKeep: true, KeepSeconds: 7200, Reasons: []string{}, KeptBy: "ada", KeptUntil: time.Unix(3600, 0).Add(by)}, nil
}

func (s *stub) ResumeOperation(_ context.Context, _ app.Actor, _ string, op int64) (cluster.View, error) {
	s.resumed = append(s.resumed, op)
	return view("shop"), s.refuse
}

func (s *stub) PreviewRollBack(_ context.Context, _ app.Actor, _ string, op int64, _ template.KeepTime) (operation.RollBackPreview, error) {
	return operation.RollBackPreview{Operation: app.Operation{ID: op, Kind: app.OperationCreate}, PlanHash: "undo", Deletes: []string{"n1", "n2"}, DeletesCluster: true}, s.refuse
}

func (s *stub) RollBack(_ context.Context, _ app.Actor, _ string, _ int64, hash string, _ template.KeepTime) (cluster.View, error) {
	s.undone = append(s.undone, hash)
	return view("shop"), s.refuse
}

func (s *stub) Clusters(_ context.Context, a app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error) {
	return slices.DeleteFunc(slices.Clone(s.clusters), func(c app.ClusterSummary) bool { return f.Owner != "" && c.Owner != f.Owner }), nil
}

func (s *stub) Requests(_ context.Context, _ app.Actor, f cluster.RequestFilter) ([]cluster.Request, error) {
	if f.View == cluster.RequestsInbox {
		return s.inbox, nil
	}
	return nil, nil
}

func (s *stub) HomeShown(_ context.Context, h chat.Home, _ time.Time) error {
	s.homes = append(s.homes, h)
	return nil
}

func (s *stub) ManualSteps(_ context.Context, a app.Actor, q execution.ManualStepQuery) (list []execution.ManualStep, err error) {
	for _, one := range s.asks {
		one.Mine = a.User == one.Owner
		if !q.Mine || one.Mine {
			list = append(list, one)
		}
	}
	return list, nil
}

func (s *stub) AnswerStep(_ context.Context, _ app.Actor, _ string, v execution.StepAnswer) (execution.ManualStep, error) {
	s.answers = append(s.answers, v)
	if v.Refuse == "" {
		if _, err := s.asks[0].Person.Settle(v.Values); err != nil {
			return s.asks[0], err
		}
	}
	return s.asks[0], s.refuse
}

// unasked are use cases that panic.
type unasked struct {
	People
	Catalogs
	Clusters
	Activity
	Deletes
	Creates
	Updates
	Runs
	Operations
	RollBacks
	Leases
	Idle
	Requests
	ManualSteps
	Queues
	Quotas
	Orphans
	Workspaces
	Channels
	Homes
}

// config is that of a bot which asks the stub for everything.
func (s *stub) config(log *slog.Logger) Config {
	return Config{Tenant: "default", URL: func() string { return "https://m.test" }, Pages: address.Of, Log: log,
		UseCases: apptest.UseCases[UseCases](s)}
}
