package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/lock"
	"muster/app/notification"
	"muster/app/plan"
	"muster/app/plugin"
	"muster/app/sharing"
	"muster/app/template"
	"muster/app/webhook"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

// The matrix: every use case, tried by every role on what is its own, on what belongs to another of its tenant, shared with the actor or not, and on what
// belongs to another tenant. What must come out of it follows from app's one table.

// The two tenants of the matrix. In each there is one user of every role, named after it, and an owner of things.
const (
	here  = "default"
	there = "acme"
)

// scene is one try: an actor, and a thing of an owner in a tenant, made as soon as it is asked for.
type scene struct {
	*matrix
	actor         app.Actor
	tenant, owner string
	used          bool // a thing was asked for
	// What clusters are made as, and whether one was.
	shared     app.Access // with the actor
	visibility app.Visibility
	clusters   bool
	locked     bool // by an admin, as soon as it is made
	hidden     bool // what was asked for is not found by others
}

// matrix is a server without workers, so that nothing changes by itself.
type matrix struct {
	t      testing.TB
	server *server.Server
	serial int
	hooks  map[string]bool // those that were made
}

func newMatrix(t testing.TB) *matrix {
	t.Helper()
	s, err := server.New(context.WithoutCancel(t.Context()), server.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0",
		Catalogs: []string{"../../examples/catalog"}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := s.Services.Identity.Tenants.CreateTenant(t.Context(), app.Actor{Tenant: here, User: "root", Role: app.RoleSuperadmin}, identity.NewTenant{Name: there}); err != nil {
		t.Fatal(err)
	}
	// Someone who could carry it out, and never does.
	if _, err := s.Services.Fleet.Registries.LocalRegistry(s.LocalWorkers(), true).Register(t.Context(), fleet.Registration{Name: "idle", Host: "h", Version: cli.VersionName(), Slots: 1}); err != nil {
		t.Fatal(err)
	}
	return &matrix{t: t, server: s}
}

// fresh returns a name that nothing has yet.
func (m *matrix) fresh(kind string) string {
	m.serial++
	return fmt.Sprintf("%s%d", kind, m.serial)
}

// cluster makes a cluster whose create is in progress.
func (s *scene) cluster() string {
	s.used = true
	n := apptest.NewCluster(s.tenant, s.fresh("c"), 1, time.Now(), apptest.Chain(1))
	s.create(n)
	return n.Cluster.ID
}

// create makes a cluster as the scene has it.
func (s *scene) create(n cluster.NewCluster) app.Operation {
	s.clusters = true
	n.Cluster.Owner, n.Cluster.Visibility = s.owner, s.visibility
	op, err := s.server.Store.CreateCluster(s.t.Context(), n)
	s.must(err)
	if s.shared > app.AccessNone {
		who := identity.User{Tenant: s.tenant, Name: s.actor.User, Role: s.actor.Role, CreatedAt: time.Now()}
		if err := s.server.Store.CreateUser(s.t.Context(), who); app.CodeOf(err) != app.EConflict {
			s.must(err)
		}
		_, err = s.server.Store.ShareCluster(s.t.Context(), s.boss(), n.Cluster.ID,
			sharing.SharingChange{Add: []sharing.Share{{Person: s.actor.User, Access: s.shared}}}, 1, time.Now())
		s.must(err)
	}
	if s.locked {
		s.must(s.server.Store.SetLock(s.t.Context(), lock.Change{Tenant: s.tenant, Cluster: n.Cluster.ID, Who: s.boss(), Now: time.Now(),
			Lock: &app.Lock{At: time.Now(), By: "boss", Reason: "Odd logins"}}, lock.Most))
	}
	return op
}

// question makes a cluster whose create asks its owner before all else.
func (s *scene) question() execution.ManualStep {
	s.used = true
	p := plan.Plan{Kind: app.OperationCreate, ManualSteps: map[string]*template.Person{"q": {Ask: "Continue?"}},
		Steps: []plan.Step{{ID: "n1.a.configure", Node: "n1", Service: "a", Action: app.ActionConfigure, Asks: "q"}}}
	op := s.create(apptest.NewCluster(s.tenant, s.fresh("q"), 1, time.Now(), p))
	q, err := s.server.Store.ManualStep(s.t.Context(), s.tenant, op.ID, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return q
}

// hook makes a hook, in place of the tenant's last one.
func (s *scene) hook() string {
	s.used = true
	who := app.Actor{Tenant: s.tenant, User: s.owner, Role: app.RoleAdmin}
	for name := range s.hooks {
		_ = s.server.Store.DeleteHook(s.t.Context(), who, name, time.Now()) // some are gone already
	}
	name := s.fresh("hook")
	s.hooks = map[string]bool{name: true}
	if _, _, err := s.server.Store.SaveHook(s.t.Context(), who, webhook.EndpointChange{Name: name, URL: "https://hooks.example.com/", New: make([]byte, 32)}, time.Now()); err != nil {
		s.t.Fatal(err)
	}
	return name
}

// delivery makes a test of a hook.
func (s *scene) delivery(hook string) int64 {
	d, err := s.server.Store.TestHook(s.t.Context(), app.Actor{Tenant: s.tenant, User: s.owner, Role: app.RoleAdmin}, hook, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	return d.ID
}

// tries calls every use case about clusters and the installation.
var tries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"Template": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.Template(ctx, s.actor, "web")
		return err
	},
	"TemplateVersions": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.TemplateVersions(ctx, s.actor, "web")
		return err
	},
	"TemplateChanges": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.TemplateChanges(ctx, s.actor, "web", 0, 0)
		return err
	},
	"Catalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.Catalog(ctx, s.actor)
		return err
	},
	"Preview": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Creates.Preview(ctx, s.actor, cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 3}})
		return err
	},
	"Explain": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Creates.Explain(ctx, s.actor, cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 3}})
		return err
	},
	"Cluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Views.Cluster(ctx, s.actor, s.cluster())
		return err
	},
	"Clusters": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Views.Clusters(ctx, s.actor, app.ClusterFilter{})
		return err
	},
	"Steps": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Activity.Steps(ctx, s.actor, s.cluster(), 0)
		return err
	},
	"Events": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Activity.Events(ctx, s.actor, s.cluster(), 0, 10)
		return err
	},
	"SearchLogs": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Activity.SearchLogs(ctx, s.actor, s.cluster(), cluster.LogFilter{})
		return err
	},
	"StepGraph": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Activity.StepGraph(ctx, s.actor, s.cluster(), 0)
		return err
	},
	"Logs": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Activity.Logs(ctx, s.actor, s.cluster(), cluster.LogFilter{})
		return err
	},
	"NodeReports": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Health.NodeReports(ctx, s.actor, s.cluster(), "")
		return err
	},
	"PreviewRollBack": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.RollBacks.PreviewRollBack(ctx, s.actor, s.cluster(), 0, "")
		return err
	},
	"Receipt": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Machines.Receipt(ctx, s.actor, s.cluster())
		return err
	},
	"KeptMachines": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Quarantine.Machines.KeptMachines(ctx, s.actor, s.cluster())
		return err
	},
	"Waiting": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Waits.Waiting(ctx, s.actor, s.cluster(), execution.WaitingFilter{})
		return err
	},
	"CreateCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Creates.CreateCluster(ctx, s.actor, cluster.CreateRequest{Name: s.fresh("made"), Request: layout.Request{Template: "web", Size: 2}})
		return err
	},
	"ClusterConfig": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Specs.ClusterConfig(ctx, s.actor, s.cluster())
		return err
	},
	"UpdateServices": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Updates.Update(ctx, s.actor, s.cluster(), cluster.Update{Kind: app.OperationRestart})
		return err
	},
	"PreviewUpdate": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Updates.PreviewUpdate(ctx, s.actor, s.cluster(), cluster.Update{Kind: app.OperationRestart})
		return err
	},
	"Update": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Updates.Update(ctx, s.actor, s.cluster(), cluster.Update{Kind: app.OperationResize, Size: 2})
		return err
	},
	"DeleteCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Deletes.DeleteCluster(ctx, s.actor, s.cluster())
		return err
	},
	"ClusterKey": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, err := a.SSHAccess.ClusterKey(ctx, s.actor, s.cluster())
		return err
	},
	"ClusterCertificate": func(ctx context.Context, a *all.Services, s *scene) error {
		const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHKjxFmBBxHLmTsBQ7WdLRHmZPdrKjBW8m5cP0QFYtD6 ada"
		_, err := a.SSHAccess.ClusterCertificate(ctx, s.actor, s.cluster(), key, time.Hour)
		return err
	},
	"CancelOperation": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Controls.CancelOperation(ctx, s.actor, s.cluster(), 0, false)
		return err
	},
	"PauseOperation": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Controls.PauseOperation(ctx, s.actor, s.cluster(), 0)
		return err
	},
	"ResumeOperation": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Controls.ResumeOperation(ctx, s.actor, s.cluster(), 0)
		return err
	},
	"ResumeCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Controls.ResumeCluster(ctx, s.actor, s.cluster())
		return err
	},
	"ManualSteps": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.ManualSteps.ManualSteps(ctx, s.actor, execution.ManualStepQuery{})
		return err
	},
	"AnswerStep": func(ctx context.Context, a *all.Services, s *scene) error {
		q := s.question()
		_, err := a.Execution.ManualSteps.AnswerStep(ctx, s.actor, q.Cluster, execution.StepAnswer{Operation: q.Operation, Index: q.Index, Attempt: q.Attempt})
		return err
	},
	"RetryNode": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.Controls.RetryNode(ctx, s.actor, s.cluster(), "n1")
		return err
	},
	"RollBack": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Operation.RollBacks.RollBack(ctx, s.actor, s.cluster(), 0, "", "")
		return err
	},
	"Places": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Place.Places(ctx, s.actor, s.cluster())
		return err
	},
	"ClusterSharing": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Sharing.ClusterSharing(ctx, s.actor, s.cluster())
		return err
	},
	"ShareCluster": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Sharing.ShareCluster(ctx, s.actor, s.cluster(), sharing.SharingChange{Visibility: app.VisibleTenant})
		return err
	},
	"DefaultVisibility": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Sharing.DefaultVisibility(ctx, s.actor)
		return err
	},
	"SetDefaultVisibility": func(ctx context.Context, a *all.Services, s *scene) error {
		if err := a.Cluster.Sharing.SetDefaultVisibility(ctx, s.actor, app.VisibleTenant); err != nil {
			return err
		}
		return a.Cluster.Sharing.SetDefaultVisibility(ctx, s.actor, app.VisiblePrivate)
	},
	"Queue": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Waits.Queue(ctx, s.actor)
		return err
	},
	"Queues": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Execution.Waits.Queues(ctx, s.actor)
		return err
	},
	"Orphans": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Machines.Orphans(ctx, s.actor, true)
		return err
	},
	"SetOrphanMode": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Fleet.Machines.SetOrphanMode(ctx, s.actor, fleet.OrphansReport)
	},
	"Provisioners": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Provisioners.Provisioners(ctx, s.actor)
		return err
	},
	"Provisioner": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Provisioners.Provisioner(ctx, s.actor, "no-such-provisioner")
		if app.CodeOf(err) == app.ENotFound {
			return nil
		}
		return err
	},
	"CreateProvisionerToken": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Provisioners.CreateProvisionerToken(ctx, s.actor, s.fresh("p"), fleet.AnyProvisionerGrant())
		return err
	},
	"Notices": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Dashboard.Notices(ctx, s.actor, 0, 10)
		return err
	},
	"Notifications": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Notification.Notifications(ctx, s.actor, notification.Query{})
		return err
	},
	"UnreadNotifications": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Notification.UnreadNotifications(ctx, s.actor)
		return err
	},
	"OpenNotification": func(ctx context.Context, a *all.Services, s *scene) error {
		if _, err := a.Notification.OpenNotification(ctx, s.actor, 1<<40); app.CodeOf(err) != app.ENotFound {
			return err
		}
		return nil
	},
	"MarkNotifications": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Notification.MarkNotifications(ctx, s.actor, notification.Mark{})
		return err
	},
	"NotificationPreferences": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Notification.NotificationPreferences(ctx, s.actor)
		return err
	},
	"SaveNotificationPreferences": func(ctx context.Context, a *all.Services, s *scene) error {
		off := false
		_, err := a.Notification.SaveNotificationPreferences(ctx, s.actor, []notification.Change{{Kind: app.NoticeIdle, Email: &off}})
		return err
	},
	"Hooks": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Webhook.Hooks(ctx, s.actor)
		return err
	},
	"Hook": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Webhook.Hook(ctx, s.actor, s.hook())
		return err
	},
	"SaveHook": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Webhook.SaveHook(ctx, s.actor, webhook.EndpointRequest{Name: s.fresh("h"), URL: "https://hooks.example.com/"})
		if err == nil {
			err = a.Webhook.DeleteHook(ctx, s.actor, fmt.Sprintf("h%d", s.serial)) // a tenant has only so many
		}
		return err
	},
	"DeleteHook": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.Webhook.DeleteHook(ctx, s.actor, s.hook())
	},
	"TestHook": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Webhook.TestHook(ctx, s.actor, s.hook())
		return err
	},
	"HookDeliveries": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Webhook.HookDeliveries(ctx, s.actor, s.hook(), 0, 10)
		return err
	},
	"HookDelivery": func(ctx context.Context, a *all.Services, s *scene) error {
		hook := s.hook()
		_, err := a.Webhook.HookDelivery(ctx, s.actor, hook, s.delivery(hook))
		return err
	},
	"Redeliver": func(ctx context.Context, a *all.Services, s *scene) error {
		hook := s.hook()
		_, err := a.Webhook.Redeliver(ctx, s.actor, hook, s.delivery(hook))
		return err
	},
	"Plugins": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Plugin.Plugins(ctx, s.actor)
		return err
	},
	"RemovePlugin": func(ctx context.Context, a *all.Services, s *scene) error {
		d := plugin.Decision{Name: s.fresh("muster-provider-p"), SHA256: "00"}
		if err := s.server.Store.DecidePlugin(ctx, s.boss(), d); err != nil {
			return err
		}
		_, err := a.Plugin.RemovePlugin(ctx, s.actor, d.Name)
		return err
	},
	"ProvisionerTokens": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Provisioners.ProvisionerTokens(ctx, s.actor)
		return err
	},
}

// elsewhere are use cases that no scene tries, each with the test that does.
var elsewhere = map[string]string{
	"Watch":                  "it tells nothing, see its comment",
	"LeaseLink":              "the store's suite of money in app/apptest, which has links that were signed",
	"DecideOrphan":           "the store's suite of machines in app/apptest",
	"DrainProvisioner":       "app/fleet/provisioner_test.go",
	"RegisterPlugin":         "app/plugin/service_test.go",
	"RevokeProvisionerToken": "app/fleet/provisioner_test.go",
	"MayRepeat":              "app/cluster/cluster_share_test.go",
	"UseChannel":             "chat_test.go: it takes admins of two tenants",
	"ResetChannel":           "chat_test.go: it takes an admin of either of two tenants",
}

// ofUnknownUsers are use cases about what a user has, who need not be there: of someone unknown there is nothing.
var ofUnknownUsers = map[string]bool{"Identities": true, "RevokeAllSessions": true, "Tokens": true}

// between are methods that services of domains call of each other, with an actor who was let through already. No face may call them; see
// TestFacesCallUseCasesOnly.
var between = map[string]bool{"AuthorizedCluster": true, "CheckBuildHook": true, "CheckLocks": true, "FindCluster": true, "FindOperation": true, "VersionUsed": true, "ViewOfCluster": true,
	"MaskFor": true, "MaskRequests": true, "MaskNotices": true, "MaskSummaries": true, "DraftCluster": true, "DraftUser": true, "ReaderOf": true, "StartDelete": true, "WorkOutChange": true,
	"CompletePreview": true, "EvaluateRequest": true, "RequestToKeep": true, "FromPayload": true, "WriteMaintenanceWindows": true}

// betweenOf are the same of services whose methods have common names.
var betweenOf = map[string]bool{"NodeAccess.Find": true, "NodeAccess.All": true, "NodeAccess.Connect": true, "NodeAccess.StillMay": true}

// Faces, jobs and commands call what the authorisation table knows.
func TestFacesCallUseCasesOnly(t *testing.T) {
	for _, dir := range []string{"../../portal", "../../bot", "../../jobs", "../../cmd"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					of, _ := n.X.(*ast.SelectorExpr)
					if between[n.Sel.Name] || of != nil && betweenOf[of.Sel.Name+"."+n.Sel.Name] {
						t.Errorf("%s calls %s, which checks less than a use case does", name, n.Sel.Name)
					}
				case *ast.Field:
					for _, id := range n.Names {
						if between[id.Name] {
							t.Errorf("%s asks for %s, which checks less than a use case does", name, id.Name)
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryUseCaseIsInTheTable(t *testing.T) {
	tries := allTries()
	known := map[string]bool{}
	for _, p := range app.Permissions() {
		known[p.UseCase] = true
		if tries[p.UseCase] == nil && elsewhere[p.UseCase] == "" {
			t.Errorf("%s is in PermissionTable (app/authorize.go), but no test calls it: add it to tries in cmd/muster/authorize_*_test.go", p.UseCase)
		}
	}
	actor, methods := reflect.TypeFor[app.Actor](), 0
	var walk func(name string, service reflect.Type)
	walk = func(name string, service reflect.Type) {
		if service.Kind() == reflect.Struct { // the services of a domain with several
			for f := range service.Fields() {
				walk(name+"."+f.Name, f.Type)
			}
		}
		for m := range service.Methods() {
			methods++
			for i := range m.Type.NumIn() {
				if m.Type.In(i) == actor && !known[m.Name] && !between[m.Name] && !betweenOf[strings.TrimPrefix(name, "Services.")+"."+m.Name] {
					t.Errorf("%s.%s takes an actor: add %q to PermissionTable in app/authorize.go and check it first, or to between here if only services call it",
						name, m.Name, m.Name)
				}
			}
		}
	}
	walk("Services", reflect.TypeFor[all.Services]())
	if methods < 300 {
		t.Errorf("only %d methods of services were found", methods)
	}
	for name := range tries {
		if !known[name] {
			t.Errorf("tries has %s, which is not in PermissionTable (app/authorize.go)", name)
		}
	}
}

// accessOfReach is what it takes of a cluster.
var accessOfReach = map[string]app.Access{app.ReachSee: app.AccessReader, app.ReachUse: app.AccessUser, app.ReachOwn: app.AccessCoOwner}

func TestMatrix(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	tries, decisions, cases := allTries(), 0, 0
	for _, p := range app.Permissions() {
		try := tries[p.UseCase]
		if try == nil {
			continue
		}
		cases++
		for _, role := range app.Roles {
			actor := app.Actor{Tenant: here, User: string(role), Role: role, ProvenAt: time.Now()}
			check := func(what, tenant, owner string, as scene, want ...app.Code) *scene {
				t.Helper()
				s := &as
				s.matrix, s.actor, s.tenant, s.owner = m, actor, tenant, owner
				err := try(t.Context(), m.server.Services, s)
				got := app.CodeOf(err)
				decisions++
				refused := got == app.EForbidden || got == app.EUnauthorized
				switch {
				case len(want) > 0 && !slices.Contains(want, got):
					t.Errorf("%s by %s on %s: %v, want %v", p.UseCase, role, what, err, want)
				case len(want) == 0 && (refused || got == app.ENotFound || got == app.EInternal):
					t.Errorf("%s by %s on %s is allowed, but: %v", p.UseCase, role, what, err)
				}
				return s
			}
			private := scene{visibility: app.VisiblePrivate}
			strange := []app.Code{app.ENotFound}
			if p.Reach[role] == app.ReachOwn {
				strange = append(strange, app.EForbidden) // what is not one's own need not be looked for
			}
			if ofUnknownUsers[p.UseCase] {
				strange = append(strange, "")
			}
			switch rule := byRule[p.UseCase] != ""; {
			case rule && p.Reach[role] != app.ReachNone:
				if s := check("another tenant's", there, actor.User, private, app.ENotFound, app.EForbidden, app.EInvalid, app.EConflict, app.EUnauthorized, ""); s.used {
					check("another tenant's", there, actor.User, private, strange...)
					if s.clusters && p.Reach[role] != app.ReachAll {
						check("another's private", here, "owner", private, app.ENotFound)
					}
				}
				continue
			}
			if p.Reach[role] == app.ReachNone {
				check("its own", here, actor.User, private, app.EForbidden)
				check("another's", here, "owner", private, app.EForbidden)
				check("another's, shared", here, "owner", scene{shared: app.AccessCoOwner, visibility: app.VisiblePrivate}, app.EForbidden)
				check("another tenant's", there, actor.User, private, app.EForbidden)
			} else if s := check("its own", here, actor.User, private); s.used {
				check("another tenant's", there, actor.User, private, strange...)
				switch takes := accessOfReach[p.Reach[role]]; {
				case p.Reach[role] == app.ReachAll:
					check("another's", here, "owner", private)
				case s.clusters:
					check("another's private", here, "owner", private, app.ENotFound)
					for _, has := range sharing.SharedAccess {
						want := []app.Code{app.EForbidden}
						if has >= takes {
							want = nil
						}
						check("another's, shared as "+has.String(), here, "owner", scene{shared: has, visibility: app.VisiblePrivate}, want...)
						if has == app.AccessReader {
							check("another's that the tenant sees", here, "owner", scene{visibility: app.VisibleTenant}, want...)
						}
					}
				case s.hidden && role == app.RoleApprover && p.UseCase == "Request": // it decides
					check("another's", here, "owner", private)
				case s.hidden:
					check("another's", here, "owner", private, app.ENotFound)
				default:
					check("another's", here, "owner", private, app.EForbidden)
				}
			}
			// A token that lacks the scope gets nowhere, whatever the role.
			if p.Scope != app.ScopeRead && p.Reach[role] != app.ReachNone {
				whole := actor
				actor.Scopes, actor.ProvenAt = []app.Scope{app.ScopeRead}, time.Time{}
				check("its own, with a token to read", here, actor.User, private, app.EForbidden)
				actor = whole
			}
		}
	}
	t.Logf("%d use cases x %d roles x tenants, owners and shares: %d decisions", cases, len(app.Roles), decisions)
}
