package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/template"
	"muster/providers/fake"
)

// fivePlaces are clouds a to e, of which each costs more than the one before it.
type fivePlaces struct {
	*engine
	clouds map[string]*fake.Cloud
}

var placeNames = []string{"a", "b", "c", "d", "e"}

func newPlaces(t *testing.T) *fivePlaces {
	p := &fivePlaces{clouds: map[string]*fake.Cloud{}}
	p.engine = newEngine(t, func(_ *engine, c *template.Catalog) {
		delete(c.Providers, "cloud")
		flavors, images := map[string]template.Flavor{}, map[string]template.Image{}
		for i, name := range placeNames {
			c.Providers[name] = &template.ProviderSpec{About: template.About{Name: name}, Type: "fake", Zones: []string{name + "-1", name + "-2"}}
			flavors[name], images[name] = template.Flavor{Flavor: "s", CostPerHour: float64(i + 1), CPU: 2}, template.Image{Image: "i"}
		}
		c.Hardware["small"].Providers, c.Images["linux"].Providers = flavors, images
		c.Templates["web"].Defaults.Provider = ""
	})
	_ = p.worker.Close()
	many := manyClouds{}
	for _, name := range placeNames {
		cloud := fake.New(name)
		cloud.Bind(func(family.MachineSpec) fake.Endpoint {
			target := p.ssh.Target()
			return fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
		})
		p.clouds[name], many[name] = cloud, cloud
	}
	p.startWorkerWith("w2", many)
	p.owner()
	return p
}

// full has a cloud refuse a node for want of room; "" for all of them.
func (p *fivePlaces) full(name, node string) {
	p.clouds[name].Order(fake.Create, fake.Outcome{Node: node, Err: &app.Error{Code: app.ECapacity, Message: "there is no room in " + name}, Times: -1})
}

func (p *fivePlaces) request(order layout.PlaceOrder, names ...string) cluster.CreateRequest {
	r := cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: 2}, PlaceOptions: layout.PlaceOptions{Order: order}}
	for _, name := range names {
		r.Places = append(r.Places, layout.Place{Provider: name})
	}
	return r
}

func (p *fivePlaces) ask(r cluster.CreateRequest) string {
	p.Helper()
	answer, err := p.app.Place.SubmitRequest(p.ctx, p.admin, r)
	if err != nil {
		p.Fatal(err)
	}
	return answer.Request.Cluster
}

func (p *fivePlaces) places(id string) *layout.Places {
	p.Helper()
	places, err := p.app.Place.Places(p.ctx, p.admin, id)
	if err != nil || places == nil {
		p.Fatalf("the places of %s: %v, %v", id, places, err)
	}
	return places
}

// settled continues as the dispatcher does, on several servers at once, until nothing more is tried. It returns what came of it.
func (p *fivePlaces) settled(id string) *layout.Places {
	p.Helper()
	p.eventually("the places are tried", func() bool {
		var servers sync.WaitGroup
		for range 3 {
			servers.Go(func() {
				if _, err := p.app.Place.Undo(p.ctx); err != nil {
					p.Error(err)
				}
			})
		}
		servers.Wait()
		s := p.places(id).State
		return s == layout.PlacesDone || s == layout.PlacesEnded
	})
	return p.places(id)
}

func (p *fivePlaces) states(places *layout.Places) (out []string) {
	for _, k := range places.Candidates {
		out = append(out, k.Provider+" "+string(k.State))
	}
	return out
}

// left are the machines of each cloud that has some.
func (p *fivePlaces) left() (out []string) {
	for _, name := range placeNames {
		list, err := p.clouds[name].List(p.ctx, nil)
		if err != nil {
			p.Fatal(err)
		}
		if len(list) > 0 {
			out = append(out, fmt.Sprintf("%s %d", name, len(list)))
		}
	}
	return out
}

// TestPlacesAreTriedInOrder has no capacity in three of five places: the cluster is created in the fourth, and says what was tried. What was created in
// the second is deleted, with proof.
func TestPlacesAreTriedInOrder(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	p.full("a", "")
	p.full("b", "n2")
	p.full("c", "")
	r := p.request("", "e", "d", "c", "b", "a")
	preview, err := p.app.Place.Preview(p.ctx, p.admin, r)
	if err != nil {
		t.Fatal(err)
	}
	if preview.Layout.Provider != "a" || len(preview.Places) != 5 || preview.Places[3].Provider != "d" || preview.Places[3].CostPerHour != 8 {
		t.Fatalf("the preview has %+v", preview.Places)
	}
	r.PlanHash = preview.PlanHash
	first := p.ask(r)
	got := p.settled(first)
	if want := []string{"a no_capacity", "b no_capacity", "c no_capacity", "d used", "e ready"}; got.State != layout.PlacesDone ||
		!slices.Equal(p.states(got), want) {
		t.Fatalf("%s: %v", got.State, p.states(got))
	}
	v := p.await(got.Current)
	p.want(v, app.ClusterActive)
	if v.Name != "web" || v.Provider != "d" || v.CostPerHour != 8 || !slices.Equal(p.left(), []string{"d 2"}) || p.reserved() != 2 {
		t.Errorf("%s at %s for %v an hour; machines are left: %v, reserved %d", v.Name, v.Provider, v.CostPerHour, p.left(), p.reserved())
	}
	if words := strings.Join(got.Left(), "\n"); strings.Count(words, "no capacity at ") != 3 ||
		!strings.Contains(got.Candidates[1].Reason, "there is no room in b") {
		t.Errorf("it says %q and %q", words, got.Candidates[1].Reason)
	}
	for i, k := range got.Candidates[:3] {
		left, err := p.app.Cluster.Views.Cluster(p.ctx, p.admin, k.Cluster)
		if err != nil || left.Status != app.ClusterDeleted {
			t.Errorf("the cluster of attempt %d is %s (%v)", i, left.Status, err)
		}
	}
	// The stock is known by now, and shown.
	if preview, err = p.app.Place.Preview(p.ctx, p.admin, p.request("", "a", "d")); err != nil || preview.Places[0].Stock.FullAt.IsZero() ||
		preview.Places[1].Stock.CreatedAt.IsZero() ||
		!preview.Places[1].Stock.FullAt.IsZero() {
		t.Errorf("the stock seen is %+v (%v)", preview.Places, err)
	}
	if q, err := p.app.Operation.Requests.Requests(p.ctx, p.admin, cluster.RequestFilter{}); err != nil || q[0].Cluster != got.Current {
		t.Errorf("the request is about %+v (%v)", q, err)
	}
}

// TestPlacesEnd says that no place is left, leaves the last attempt to what was chosen for failures, and notifies.
func TestPlacesEnd(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	p.clouds["a"].Order(fake.Create, fake.Outcome{Node: "n2", Err: &app.Error{Code: app.EQuota, Message: "the account's limit is reached"}, Times: -1})
	p.full("b", "n2")
	r := p.request(layout.OrderListed, "b", "a")
	r.OnFailure = app.FailureRollBack
	got := p.settled(p.ask(r))
	if got.State != layout.PlacesEnded || !slices.Equal(p.states(got), []string{"b no_capacity", "a no_capacity"}) || got.Message != "No place is left to try." {
		t.Errorf("%s %q: %v", got.State, got.Message, p.states(got))
	}
	p.eventually("the last attempt is rolled back", func() bool {
		if _, err := p.app.Place.Undo(p.ctx); err != nil {
			t.Fatal(err)
		}
		v, err := p.app.Cluster.Views.Cluster(p.ctx, p.admin, got.Current)
		return err == nil && v.Status == app.ClusterDeleted
	})
	if len(p.left()) > 0 || p.reserved() != 0 {
		t.Errorf("machines are left: %v, reserved %d", p.left(), p.reserved())
	}
	notices, err := p.store.Notices(p.ctx, app.DefaultTenant, 0, 100)
	if err != nil || !slices.ContainsFunc(notices, func(n app.Notice) bool {
		return n.Title == "Cluster web couldn't be created in any of 2 places." && strings.Contains(n.Text, "Tried b: no capacity at ") &&
			strings.Contains(n.Text, " and a: no capacity at ")
	}) {
		t.Errorf("the owner is notified of %+v (%v)", notices, err)
	}
}

// TestPlacesStayOnOtherFailures leaves a cluster where it is when something else than capacity fails.
func TestPlacesStayOnOtherFailures(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	p.clouds["a"].Order(fake.Create, fake.Outcome{Node: "n1", Err: &app.Error{Code: app.ECredentials, Message: "the key is wrong"}, Times: -1})
	got := p.settled(p.ask(p.request("", "a", "b")))
	if got.State != layout.PlacesEnded || !slices.Equal(p.states(got), []string{"a failed", "b ready"}) {
		t.Errorf("%s: %v", got.State, p.states(got))
	}
	v := p.await(got.Current)
	if v.Status != app.ClusterFailed || len(v.Operations) != 1 {
		t.Errorf("the cluster is %s, with %d operations", v.Status, len(v.Operations))
	}
}

// zoneFull is a cloud without room in a zone.
type zoneFull struct {
	family.Provider
	zone string
}

func (z zoneFull) Create(ctx context.Context, m family.MachineSpec) (family.Machine, error) {
	if m.Zone == z.zone {
		return family.Machine{}, &app.Error{Code: app.ECapacity, Message: "no room in " + z.zone}
	}
	return z.Provider.Create(ctx, m)
}

// TestPlacesInZones asks zone after zone of one provider.
func TestPlacesInZones(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	_ = p.worker.Close()
	p.startWorkerWith("w3", manyClouds{"a": zoneFull{p.clouds["a"], "a-1"}})
	r := p.request("")
	r.Provider = "a"
	r.Places = []layout.Place{{Zone: "a-9"}, {Zone: "a-1"}, {Zone: "a-2"}}
	got := p.settled(p.ask(r))
	if want := []string{"a no_capacity", "a used", "a impossible"}; !slices.Equal(p.states(got), want) || !strings.Contains(got.Candidates[2].Reason, `no zone "a-9"`) {
		t.Fatalf("%v: %+v", p.states(got), got.Candidates)
	}
	for _, n := range p.await(got.Current).Nodes {
		if n.Zone != "a-2" {
			t.Errorf("%s is in zone %q", n.Name, n.Zone)
		}
	}
}
