package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
	"muster/providers/providertest"
)

// machine makes one whose name is in the suite's zone, without giving it the name.
func (r *testRegion) machine(t *testing.T, c *cloud, intent string) appfamily.Machine {
	t.Helper()
	m := providertest.Eventually(t, c, mustCreate(t, c, specOf(t, intent)).ID)
	m.Hostname = intent + "." + c.NameZone()
	return m
}

func mustName(t *testing.T, c *cloud, m appfamily.Machine) {
	t.Helper()
	if err := c.SetName(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func (r *testRegion) with(do func(*simulated)) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	do(r.sim)
}

var inSuite = map[string]any{"dns_zone": "suite.test"}

// readAnew keeps nothing of a zone for the next one who comes.
var readAnew = func() tuning { t := quick; t.sets = 0; return t }()

func TestOneBatchPerName(t *testing.T) {
	r := newRegion(t)
	for i := range 20 { // pages of others' records around ours
		r.take(fmt.Sprintf("www-%d.suite.test", i), "A", "203.0.113.1")
		r.take(fmt.Sprintf("_muster.www-%d.suite.test", i), "TXT", `"of someone else"`)
	}
	before := len(r.sim.zones[0].sets)
	c := r.open(t, inSuite)
	m := r.machine(t, c, "one")
	mustName(t, c, m)
	mustName(t, c, m)
	m.Addresses = map[string]string{app.AddressAccess: "198.51.100.7", "access_v6": "2001:db8::7"}
	mustName(t, c, m)
	m.Hostname = "two.suite.test"
	mustName(t, c, m)
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	// Name and claim; nothing; another address, which is deleted and created, and a second one; the old name goes and the new one comes; and the end of it.
	if want := []int{2, 3, 6, 3}; !slices.Equal(r.sim.batches, want) {
		t.Errorf("batches of %v changes, want %v", r.sim.batches, want)
	}
	if n := r.sim.asked["ListHostedZonesByName"]; n != 1 {
		t.Errorf("the zone was looked for %d times", n)
	}
	if n := len(r.sim.zones[0].sets); n != before {
		t.Errorf("%d sets of records, of %d before", n, before)
	}
}

func TestWhichZone(t *testing.T) {
	r := newRegion(t)
	for _, c := range []struct {
		name, zone, id string
		lands          int // in which zone
		wrong          string
	}{
		{"one public", "other.test", "", 1, ""},
		{"one private", "hidden.test", "", 4, ""},
		{"the public one of two", "twice.test", "Z00000003", 2, ""},
		{"the private one of two", "twice.test", "Z00000004", 3, ""},
		{"two", "twice.test", "", 0, "The account has 2 hosted zones twice.test: Z00000003 (public), Z00000004 (private)."},
		{"none", "none.test", "", 0, "Route 53 hosted zone none.test doesn't exist in this account."},
		{"above one", "test", "", 0, ""},
		{"no such ID", "suite.test", "Z00000009", 0, "Hosted zone Z00000009 doesn't exist in this account."},
		{"an ID of another", "suite.test", "Z00000002", 0, "Hosted zone Z00000002 is for other.test, not suite.test."},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := map[string]any{"dns_zone": c.zone, "dns_zone_id": c.id}
			if c.zone == "test" {
				if _, err := Open(t.Context(), r.settings(settings), account.Network{}); app.CodeOf(err) != app.EInvalid {
					t.Errorf("a zone of one label: %v", err)
				}
				return
			}
			p := r.open(t, settings)
			m := appfamily.Machine{Hostname: "one." + c.zone, Addresses: map[string]string{app.AddressAccess: "198.51.100.7"},
				Tags: map[string]string{appfamily.TagInstallation: "suite", appfamily.TagCluster: "c1", appfamily.TagIntent: c.name}}
			err := p.SetName(t.Context(), m)
			if c.wrong != "" {
				if e := app.AsError(err); e.Code != app.EInvalid || e.Message != c.wrong || e.Hint == "" || !strings.HasPrefix(e.Field, "settings.dns_zone") {
					t.Errorf("%v (%s, %s, %s)", err, e.Code, e.Field, e.Hint)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.with(func(s *simulated) {
				if !slices.ContainsFunc(s.zones[c.lands].sets, func(s simSet) bool { return s.Name == m.Hostname+"." && s.Type == "A" && s.TTL == "60" }) {
					t.Errorf("%+v", s.zones[c.lands].sets)
				}
			})
		})
	}
}

func TestDeletedZone(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, inSuite)
	m := r.machine(t, c, "one")
	mustName(t, c, m)
	r.with(func(s *simulated) { s.zones[0] = plainZone("Z0000000A", "suite.test.") })
	mustName(t, c, m) // it was made again, with another ID
	if got := r.named(m.Hostname); len(got) != 1 {
		t.Errorf("it leads to %q", got)
	}
	r.with(func(s *simulated) { s.zones = s.zones[1:] })
	if e := app.AsError(c.SetName(t.Context(), m)); e.Code != app.EInvalid || e.Hint == "" {
		t.Errorf("without a zone: %v", e)
	}
	if things, err := c.Shared(t.Context(), map[string]string{appfamily.TagInstallation: "suite"}); err != nil || len(things) != 0 {
		t.Errorf("without a zone: %+v, %v", things, err)
	}
	if err := c.DeleteShared(t.Context(), "dns_record/one.suite.test"); err != nil {
		t.Errorf("without a zone: %v", err)
	}
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Errorf("without a zone: %v", err)
	}
}

// What someone else does between our look and our change is not undone. Route 53 has two forms of saying so.
func TestConcurrentZoneChanges(t *testing.T) {
	for _, oneMessage := range []bool{false, true} {
		t.Run(fmt.Sprintf("one message %t", oneMessage), func(t *testing.T) {
			r := newRegion(t)
			r.sim.oneMessage = oneMessage
			c := r.openLate(t, inSuite, readAnew)
			m := r.machine(t, c, "one")
			for kind, data := range map[string]string{"A": "203.0.113.99", "CNAME": "www.example.org."} {
				m.Hostname = "taken-" + strings.ToLower(kind) + ".suite.test"
				r.with(func(s *simulated) {
					s.meanwhile = func(z *simZone) {
						z.sets = append(z.sets, simSet{Name: m.Hostname + ".", Type: kind, TTL: "300", Records: []simRecord{{data}}})
					}
				})
				if e := app.AsError(c.SetName(t.Context(), m)); e.Code != app.ETransient || !strings.Contains(e.Message, "already exists") {
					t.Errorf("%s: %v (%s)", kind, e, e.Code)
				}
				if err := c.SetName(t.Context(), m); app.CodeOf(err) != app.EConflict {
					t.Errorf("%s, afterwards: %v", kind, err)
				}
				if got := append(r.named(m.Hostname), r.named("_muster."+m.Hostname)...); !slices.Equal(got, []string{kind + " " + data}) {
					t.Errorf("%s: there is %q", kind, got)
				}
			}

			m.Hostname = "one.suite.test"
			mustName(t, c, m)
			gone := func(kinds ...string) func(*simZone) {
				return func(z *simZone) {
					z.sets = slices.DeleteFunc(z.sets, func(s simSet) bool {
						return strings.HasSuffix(s.Name, "one.suite.test.") && slices.Contains(kinds, s.Type)
					})
				}
			}
			// What is to become other is refused as well, where it is not any more what was read.
			theirs := simSet{Name: "one.suite.test.", Type: "A", TTL: "300", Records: []simRecord{{"203.0.113.98"}}}
			for name, meanwhile := range map[string]func(*simZone){
				"changed": func(z *simZone) { gone("A")(z); z.sets = append(z.sets, theirs) },
				"gone":    gone("A"),
			} {
				m.Addresses = map[string]string{app.AddressAccess: "198.51.100.8"}
				mustName(t, c, m)
				m.Addresses = map[string]string{app.AddressAccess: "198.51.100.9"}
				r.with(func(s *simulated) { s.meanwhile = meanwhile })
				if e := app.AsError(c.SetName(t.Context(), m)); e.Code != app.ETransient || !strings.Contains(e.Message, "Tried to delete") {
					t.Errorf("%s meanwhile: %v (%s)", name, e, e.Code)
				}
				if got, want := r.named(m.Hostname), map[string][]string{"changed": {"A 203.0.113.98"}}[name]; !slices.Equal(got, want) {
					t.Errorf("%s meanwhile: it leads to %q", name, got)
				}
				mustName(t, c, m) // by its claim the name is ours all the same
				if got := r.named(m.Hostname); !slices.Equal(got, []string{"A 198.51.100.9"}) {
					t.Errorf("%s meanwhile, afterwards: it leads to %q", name, got)
				}
			}
			changed := func(z *simZone) {
				gone("A", "TXT")(z)
				z.sets = append(z.sets, simSet{Name: "one.suite.test.", Type: "A", TTL: "300", Records: []simRecord{{"203.0.113.99"}}})
			}
			drop := func() error { return c.dropNames(t.Context(), m.ID) }
			for _, types := range [][]string{{"A"}, {"TXT"}, {"A", "TXT"}} {
				r.with(func(s *simulated) { s.meanwhile = gone(types...) })
				if err := drop(); err != nil {
					t.Errorf("%v gone already: %v", types, err)
				}
				if got := append(r.named(m.Hostname), r.named("_muster."+m.Hostname)...); len(got) > 0 {
					t.Errorf("%v gone already: %q is left", types, got)
				}
				mustName(t, c, m)
			}
			r.with(func(s *simulated) { s.meanwhile = changed })
			if err := drop(); app.CodeOf(err) != app.ETransient {
				t.Errorf("it has become someone else's: %v", err)
			}
			if err := drop(); err != nil {
				t.Error(err)
			}
			if got := r.named(m.Hostname); !slices.Equal(got, []string{"A 203.0.113.99"}) {
				t.Errorf("of someone else's is left %q", got)
			}
		})
	}
}

// Many names at once do not each read the zone: what was read, with what happened to it, is there for the next.
func TestManyNamesInALargeZone(t *testing.T) {
	const sets, page, names = 3000, 300, 100
	r := newRegion(t)
	r.with(func(s *simulated) {
		for i := range sets {
			s.zones[0].sets = append(s.zones[0].sets, simSet{Name: fmt.Sprintf("www-%d.suite.test.", i), Type: "A", TTL: "300", Records: []simRecord{{"203.0.113.1"}}})
		}
		s.pageOfSets = page
	})
	c := r.open(t, inSuite)
	node := func(i int) appfamily.Machine {
		return appfamily.Machine{Hostname: fmt.Sprintf("n-%d.suite.test", i), Addresses: map[string]string{app.AddressAccess: "198.51.100.7"},
			Tags: map[string]string{appfamily.TagInstallation: "suite", appfamily.TagCluster: "c1", appfamily.TagIntent: fmt.Sprint("n-", i)}}
	}
	atOnce := func(what string, most int, do func(i int) error) {
		t.Helper()
		before, began := r.sim.asked["ListResourceRecordSets"], time.Now()
		var wg sync.WaitGroup
		for i := range names {
			wg.Go(func() {
				if err := do(i); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		wg.Wait()
		if n := r.sim.asked["ListResourceRecordSets"] - before; n > most {
			t.Errorf("%s: %d pages were read, want at most %d", what, n, most)
		} else {
			t.Logf("%s: %d pages in %s", what, n, time.Since(began).Round(time.Millisecond))
		}
	}
	pages := (sets+2*names)/page + 1
	name := func(i int) error { return c.SetName(t.Context(), node(i)) }
	drop := func(i int) error {
		return c.inZone(t.Context(), func(ctx context.Context, z *hosted) error { return records.Drop(ctx, z, node(i).Tags) })
	}
	atOnce("names", pages+names, name)      // and each looks what its own name has by now
	atOnce("the same", 2*pages+names, name) // nothing is to be changed, which is known from what was read since they came alone
	if got := len(r.sim.zones[0].sets); got != 2+sets+2*names {
		t.Errorf("the zone has %d sets", got)
	}
	// What is kept is stale: a name and its claim are gone, the claim of an old name, of which the batch is refused, and a name that is taken.
	r.with(func(s *simulated) {
		s.zones[0].sets = slices.DeleteFunc(s.zones[0].sets, func(s simSet) bool {
			return s.Name == "n-1.suite.test." || s.Name == "_muster.n-1.suite.test." || s.Name == "_muster.n-2.suite.test."
		})
	})
	r.take("n-100.suite.test", "A", "203.0.113.9")
	moved := node(1)
	moved.Addresses[app.AddressAccess] = "198.51.100.8"
	mustName(t, c, moved)
	if got := append(r.named(moved.Hostname), r.named("_muster."+moved.Hostname)...); len(got) != 2 || got[0] != "A 198.51.100.8" {
		t.Errorf("there is %q", got)
	}
	before := r.sim.asked["ListResourceRecordSets"]
	other := node(2)
	other.Hostname = "o-2.suite.test"
	mustName(t, c, other)
	if n := r.sim.asked["ListResourceRecordSets"] - before; n < pages-1 || n > pages+2 {
		t.Errorf("%d pages were read for what was refused, of %d", n, pages)
	}
	if got := append(r.named(other.Hostname), r.named("_muster."+other.Hostname)...); len(got) != 2 || got[0] != "A 198.51.100.7" {
		t.Errorf("there is %q", got)
	}
	if err := c.SetName(t.Context(), node(names)); app.CodeOf(err) != app.EConflict || !slices.Equal(r.named("n-100.suite.test"), []string{"A 203.0.113.9"}) {
		t.Errorf("a name that is taken: %v, %q", err, r.named("n-100.suite.test"))
	}
	atOnce("dropped", pages, drop)
	atOnce("dropped again", 2*pages, drop)
	if got := len(r.sim.zones[0].sets); got != 2+sets+2 { // the name that is taken, and the one without a claim
		t.Errorf("the zone has %d sets", got)
	}
}

// Waiting for one's turn at the zone is not what the time is for.
func TestRequestSpacing(t *testing.T) {
	r := newRegion(t)
	short := quick
	short.turn = 300 * time.Millisecond
	c := r.openLate(t, inSuite, short)
	m := r.machine(t, c, "one")
	c.naming <- struct{}{}
	done := make(chan error)
	go func() { done <- c.SetName(t.Context(), m) }()
	time.Sleep(2 * short.turn)
	c.dns.tuning.turn = quick.turn
	<-c.naming
	if err := <-done; err != nil {
		t.Errorf("after having waited: %v", err)
	}
	c.dns.tuning.turn = short.turn
	r.sim.mu.Lock() // it does not answer
	m.Addresses = map[string]string{app.AddressAccess: "198.51.100.7"}
	err := c.SetName(t.Context(), m)
	r.sim.mu.Unlock()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a zone that does not answer: %v", err)
	}
	c.dns.tuning.turn = quick.turn
	mustName(t, c, m) // and no one knows what happened to it
	if got := r.named(m.Hostname); !slices.Equal(got, []string{"A 198.51.100.7"}) {
		t.Errorf("it leads to %q", got)
	}
}

// An alias, or a set with a routing policy, is never ours, whatever is next to it.
func TestRoutedRecords(t *testing.T) {
	for name, set := range map[string]simSet{
		"an alias": {Name: "one.suite.test.", Type: "A", Alias: &simAlias{HostedZoneId: "Z00000002", DNSName: "lb.other.test."}},
		"a weight": {Name: "one.suite.test.", Type: "A", TTL: "60", SetIdentifier: "half", Weight: "50", Records: []simRecord{{"203.0.113.99"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegion(t)
			c := r.open(t, inSuite)
			m := r.machine(t, c, "one")
			mustName(t, c, m)
			r.with(func(s *simulated) {
				z := s.zones[0]
				z.sets = slices.DeleteFunc(z.sets, func(s simSet) bool { return s.Name == "one.suite.test." })
			})
			r.put(set)
			before := r.named(m.Hostname)
			if err := c.SetName(t.Context(), m); app.CodeOf(err) != app.EConflict {
				t.Error(err)
			}
			if err := c.Delete(t.Context(), m.ID); err != nil {
				t.Error(err)
			}
			if got := r.named(m.Hostname); len(before) != 1 || !slices.Equal(got, before) {
				t.Errorf("of %q is left %q", before, got)
			}
			if got := r.named("_muster." + m.Hostname); len(got) > 0 {
				t.Errorf("our claim is left: %q", got)
			}
		})
	}
}

func TestRoute53Errors(t *testing.T) {
	r := newRegion(t)
	c := r.openLate(t, inSuite, readAnew)
	m := r.machine(t, c, "one")
	r.with(func(s *simulated) { s.busy = 2 })
	mustName(t, c, m) // it is busy, and then not any more
	m.Addresses = map[string]string{app.AddressAccess: "198.51.100.7"}
	for _, w := range []struct {
		action, code, message string
		want                  app.Code
		says                  string
	}{
		{"ChangeResourceRecordSets", "Throttling", "Rate exceeded", app.ERateLimit, "Rate exceeded"},
		{"ListResourceRecordSets", "Throttling", "Rate exceeded", app.ERateLimit, "Rate exceeded"},
		{"ChangeResourceRecordSets", "InvalidChangeBatch", "Number of records limit of 10000 exceeded.", app.EQuota, "limit of 10000"},
		{"ChangeResourceRecordSets", "InvalidChangeBatch", "Something is wrong", app.EInvalid, "Something is wrong"},
		{"ChangeResourceRecordSets", "PriorRequestNotComplete", "The request was rejected because Route 53 was still processing a prior request.", app.ETransient, "prior request"},
		{"ListResourceRecordSets", "InvalidInput", "Invalid request", app.EInvalid, "Invalid request"},
		{"ListResourceRecordSets", "InvalidClientTokenId", "The security token included in the request is invalid.", app.ECredentials, "security token"},
	} {
		undo := r.refuse(w.action, w.code, w.message)
		e := app.AsError(c.SetName(t.Context(), m))
		undo()
		if e.Code != w.want || !strings.Contains(e.Message, "Route 53 answers: ") || !strings.Contains(e.Message, w.says) {
			t.Errorf("%s: %v (%s)", w.code, e, e.Code)
		}
		if w.want == app.ERateLimit && e.RetryAfter == 0 || w.want == app.EQuota && e.Hint == "" {
			t.Errorf("%s: %+v", w.code, e)
		}
	}
	for _, action := range []string{"ChangeResourceRecordSets", "ListResourceRecordSets"} {
		r.with(func(s *simulated) { s.denied[action] = true })
		e := app.AsError(c.SetName(t.Context(), m))
		if e.Code != app.ECredentials || !strings.Contains(e.Message, "not authorized to perform: route53:"+action) || e.Hint != hintRecords {
			t.Errorf("%v (%s)", e, e.Hint)
		}
		// The machine stays while its names do, and the proof isn't given.
		if err := c.Delete(t.Context(), m.ID); app.CodeOf(err) != app.ECredentials {
			t.Errorf("delete without %s: %v", action, err)
		}
		if err := c.DeleteShared(t.Context(), "dns_record/"+m.Hostname); err == nil {
			t.Errorf("a name is dropped without %s", action)
		}
		if things, err := c.Shared(t.Context(), map[string]string{appfamily.TagInstallation: "suite"}); err == nil && len(things) != 1 {
			t.Errorf("without %s: %+v", action, things)
		}
		r.with(func(s *simulated) { delete(s.denied, action) })
	}
	if _, err := c.Describe(t.Context(), m.ID); err != nil {
		t.Error(err)
	}
	// A role that is not given is notified of as such.
	role := r.open(t, map[string]any{"dns_zone": "suite.test", "role_arn": "arn:aws:iam::222222222222:role/other", "external_id": "x"})
	if e := app.AsError(role.SetName(t.Context(), m)); e.Code != app.ECredentials || e.Hint == hintRecords {
		t.Errorf("%v (%s)", e, e.Hint)
	}
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Error(err)
	}
}

// What is left of a machine that went by other means is listed until it is gone.
func TestLeftoverNames(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, inSuite)
	m := r.machine(t, c, "one")
	mustName(t, c, m)
	r.with(func(s *simulated) { s.machines = nil })
	tags := map[string]string{appfamily.TagInstallation: "suite", appfamily.TagCluster: "c1"}
	listed := func() []appfamily.SharedThing {
		t.Helper()
		things, err := c.Shared(t.Context(), tags)
		if err != nil {
			t.Fatal(err)
		}
		return things
	}
	if things := listed(); len(things) != 1 || things[0].Kind != "dns_record" || things[0].Name != m.Hostname {
		t.Fatalf("%+v", things)
	}
	r.with(func(s *simulated) { s.denied["ChangeResourceRecordSets"] = true })
	if err := c.DeleteShared(t.Context(), listed()[0].ID); app.CodeOf(err) != app.ECredentials || len(listed()) != 1 {
		t.Errorf("it may not be removed: %v", err)
	}
	r.with(func(s *simulated) { s.denied = map[string]bool{} })
	for range 2 {
		if err := c.DeleteShared(t.Context(), "dns_record/"+m.Hostname); err != nil {
			t.Error(err)
		}
	}
	if things := listed(); len(things) > 0 || len(r.named(m.Hostname)) > 0 {
		t.Errorf("%+v is left", things)
	}
	// Without a zone in the settings no one looks for names.
	asked := r.sim.asked["ListResourceRecordSets"]
	if things, err := r.open(t, nil).Shared(t.Context(), tags); err != nil || len(things) > 0 || r.sim.asked["ListResourceRecordSets"] != asked {
		t.Errorf("%+v, %v", things, err)
	}
}

// stopped keeps what was asked, and answers nothing.
type stopped struct{ asked *http.Request }

func (s *stopped) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = r
	return nil, http.ErrServerClosed
}

// Route 53 is one for all regions of a partition, and signed for one of them.
func TestThePartitionsRoute53(t *testing.T) {
	for _, of := range []struct{ region, url, host, scope string }{
		{"eu-central-1", "", "route53.amazonaws.com", "us-east-1"},
		{"us-west-2", "", "route53.amazonaws.com", "us-east-1"},
		{"cn-north-1", "", "route53.amazonaws.com.cn", "cn-northwest-1"},
		{"us-gov-west-1", "", "route53.us-gov.amazonaws.com", "us-gov-west-1"},
		{"us-gov-east-1", "", "route53.us-gov.amazonaws.com", "us-gov-west-1"},
		{"eusc-de-east-1", "", "route53.amazonaws.eu", "eusc-de-east-1"},
		{"eu-central-1", "http://127.0.0.1:1/dns", "127.0.0.1:1", "us-east-1"},
		{"cn-north-1", "http://127.0.0.1:1", "127.0.0.1:1", "cn-northwest-1"},
	} {
		c, err := open(t.Context(), map[string]any{"region": of.region, "access_key_id": "A", "secret_access_key": "b", "dns_zone": "suite.test", "dns_zone_id": "Z00000001", "route53_url": of.url}, quick, account.Network{})
		if err != nil {
			t.Fatal(err)
		}
		var seen stopped
		c.http.Transport = &seen
		if _, err := c.hosted(t.Context()); err == nil {
			t.Fatal("an answer without anybody there")
		}
		if a := seen.asked.Header.Get("Authorization"); seen.asked.URL.Host != of.host || !strings.Contains(a, "/"+of.scope+"/route53/aws4_request") {
			t.Errorf("%s: %s is asked, signed with %s", of.region, seen.asked.URL, a)
		}
		if path := seen.asked.URL.Path; strings.HasSuffix(of.url, "/dns") != strings.HasPrefix(path, "/dns/2013-04-01/hostedzone/Z00000001") {
			t.Errorf("%s: the path is %s", of.url, path)
		}
	}
}

func TestRoute53RateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dns{tuning: production}
		began := time.Now()
		ask := paced(d, func(context.Context, *route53.GetHostedZoneInput, ...func(*route53.Options)) (*route53.GetHostedZoneOutput, error) {
			return &route53.GetHostedZoneOutput{}, nil
		})
		done := make(chan error)
		const n = 50
		for range n {
			go func() { _, err := ask(t.Context(), nil); done <- err }()
		}
		for range n {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took < (n-5)*time.Second/5 || took > n*time.Second/4 {
			t.Errorf("%d calls took %s, and five a second are taken", n, took)
		}
		time.Sleep(time.Minute)
		began = time.Now()
		if _, err := ask(t.Context(), nil); err != nil || time.Since(began) != 0 {
			t.Errorf("after a while it waits for %s, %v", time.Since(began), err)
		}
	})
}
