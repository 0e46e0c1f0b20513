package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	apphealth "muster/app/health"
	appoperation "muster/app/operation"
	"muster/cmd/muster/cli"
)

const testToken = "let-me-in"

// fakeServer answers the REST contract from memory and checks what it is asked. A story tells it what happens when.
type fakeServer struct {
	t    *testing.T
	addr string
	http *http.Server

	mu      sync.Mutex
	changed chan struct{} // closed and made again whenever something happens
	views   map[string]*cluster.View
	events  []app.Event
	logs    []app.LogLine
	steps   []app.Step
	asked   []string // "METHOD /path?query", in order
	created []cluster.CreateRequest
	refuse  map[string]*app.Error         // by "METHOD /path": what to answer instead
	status  int                           // of refusals
	create  func(r cluster.CreateRequest) // begins the story of a create
	remove  func(id string)               // begins the story of a delete
	resume  func()
	cancel  func(rollBack bool) // begins the story of a cancel
	preview appoperation.RollBackPreview
	waits   execution.Waiting
	queue   execution.Queue
	health  []apphealth.ClusterHealth // reports in order, the first before the requested check; each is returned once, the last one from then on
	update  cluster.UpdatePreview     // what every update would do
	updated []cluster.Update
	request *cluster.Request // updates wait as this request
	proofs  []fleet.Proof    // of a deleted cluster; each is returned once, the last one from then on
}

func newFakeServer(t *testing.T) *fakeServer {
	s := &fakeServer{t: t, changed: make(chan struct{}), views: map[string]*cluster.View{}, refuse: map[string]*app.Error{}}
	s.listen("127.0.0.1:0")
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *fakeServer) url() string { return "http://" + s.addr }

func (s *fakeServer) listen(addr string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = l.Addr().String()
	s.http = &http.Server{Handler: s.routes()}
	go s.http.Serve(l)
}

// stop cuts every connection, as a killed process does.
func (s *fakeServer) stop() { s.http.Close() }

// restart comes back on the same address with all that it knew.
func (s *fakeServer) restart() { s.listen(s.addr) }

// tell appends events and lets change alter what the server knows, in one go.
func (s *fakeServer) tell(change func(), events ...app.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if change != nil {
		change()
	}
	for _, e := range events {
		e.Seq = int64(len(s.events)+1) * 3 // with gaps
		s.events = append(s.events, e)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeServer) wasAsked(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

func (s *fakeServer) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /api/v1/clusters", s.list)
	m.HandleFunc("POST /api/v1/clusters", s.post)
	m.HandleFunc("GET /api/v1/clusters/{id}", s.with(func(_ *http.Request, v *cluster.View) any { return v }))
	m.HandleFunc("DELETE /api/v1/clusters/{id}", s.with(func(_ *http.Request, v *cluster.View) any { return s.deleted(v) }))
	s.controlRoutes(m)
	s.updateRoutes(m)
	m.HandleFunc("POST /api/v1/clusters/{id}/operations/0/resume", s.with(func(_ *http.Request, v *cluster.View) any {
		go s.resume()
		return v
	}))
	m.HandleFunc("GET /api/v1/clusters/{id}/steps", s.with(func(*http.Request, *cluster.View) any { return map[string]any{"steps": s.steps} }))
	m.HandleFunc("GET /api/v1/clusters/{id}/key", s.with(func(*http.Request, *cluster.View) any {
		return map[string]any{"user": "admin", "private_key": "KEY\n"}
	}))
	m.HandleFunc("GET /api/v1/clusters/{id}/receipt", s.with(func(_ *http.Request, v *cluster.View) any {
		at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
		return fleet.NewReceipt(v.Cluster, []fleet.CloudResource{{ID: "m-1", Node: "n1", Price: 0.5, CreatedAt: at, DeletedAt: at.Add(time.Hour)},
			{ID: "m-2", Node: "n2", Price: 0.5, CreatedAt: at, DeletedAt: at.Add(2 * time.Hour)}}, s.proof(), at)
	}))
	m.HandleFunc("GET /api/v1/clusters/{id}/health", s.with(func(*http.Request, *cluster.View) any { return s.healthNow() }))
	m.HandleFunc("POST /api/v1/clusters/{id}/health/check", s.with(func(*http.Request, *cluster.View) any { return s.health[0] }))
	m.HandleFunc("GET /api/v1/clusters/{id}/events", s.feed)
	m.HandleFunc("GET /api/v1/clusters/{id}/logs", s.with(s.log))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1")
		s.mu.Lock()
		s.asked = append(s.asked, key)
		refused := s.refuse[key]
		s.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+testToken:
			problem(w, http.StatusUnauthorized, &app.Error{Code: app.EUnauthorized, Message: "The token is not known."})
		case refused != nil:
			problem(w, s.status, refused)
		default:
			m.ServeHTTP(w, r)
		}
	})
}

// healthNow is called while the server is held.
func (s *fakeServer) healthNow() apphealth.ClusterHealth {
	h := s.health[0]
	if len(s.health) > 1 {
		s.health = s.health[1:]
	}
	return h
}

// problem answers as RFC 9457 says, with our members.
func problem(w http.ResponseWriter, status int, e *app.Error) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"title": http.StatusText(status), "status": status, "detail": e.Message,
		"code": e.Code, "kind": e.Reason, "hint": e.Hint, "field": e.Field,
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// with finds the cluster of the request; all happens under the lock.
func (s *fakeServer) with(do func(*http.Request, *cluster.View) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		v := s.views[r.PathValue("id")]
		if v == nil {
			problem(w, http.StatusNotFound, &app.Error{Code: app.ENotFound, Message: "There is no such cluster."})
			return
		}
		status := http.StatusOK
		if r.Method != http.MethodGet {
			status = http.StatusAccepted
		}
		answer(w, status, do(r, v))
	}
}

func (s *fakeServer) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []app.ClusterSummary{}
	for _, id := range cli.SortedKeys(s.views) {
		v := s.views[id]
		if v.Status == app.ClusterDeleted && r.FormValue("deleted") != "true" || r.FormValue("name") != "" && r.FormValue("name") != v.Name {
			continue
		}
		sum := app.ClusterSummary{Cluster: v.Cluster}
		if len(v.Operations) > 0 {
			sum.Operation = &v.Operations[0]
		}
		out = append(out, sum)
	}
	answer(w, http.StatusOK, map[string]any{"clusters": out})
}

func (s *fakeServer) post(w http.ResponseWriter, r *http.Request) {
	var req cluster.CreateRequest
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		problem(w, http.StatusBadRequest, &app.Error{Code: app.EInvalid, Message: err.Error()})
		return
	}
	s.mu.Lock()
	s.created = append(s.created, req)
	v := testCluster("c1", cmp.Or(req.Name, req.Template+"-1"))
	v.Template = req.Template
	s.views["c1"] = v
	s.mu.Unlock()
	answer(w, http.StatusCreated, v)
	if s.create != nil {
		go s.create(req)
	}
}

func (s *fakeServer) deleted(v *cluster.View) any {
	op := app.Operation{ID: 9, Cluster: v.ID, Kind: app.OperationDelete, Status: app.OperationRunning, Total: 2}
	v.Operations = slices.Insert(v.Operations, 0, op)
	v.Status = app.ClusterPending
	if s.remove != nil {
		go s.remove(v.ID)
	}
	return v
}

func (s *fakeServer) proof() (p fleet.Proof) {
	if len(s.proofs) > 0 {
		p = s.proofs[0]
		s.proofs = s.proofs[min(1, len(s.proofs)-1):]
	}
	return p
}

// feed is the long poll.
func (s *fakeServer) feed(w http.ResponseWriter, r *http.Request) {
	after, err1 := strconv.ParseInt(r.FormValue("after"), 10, 64)
	wait, err2 := strconv.Atoi(r.FormValue("wait"))
	if err := errors.Join(err1, err2); err != nil || wait > 30 {
		problem(w, http.StatusUnprocessableEntity, &app.Error{Code: app.EInvalid, Message: fmt.Sprint("bad after or wait: ", err)})
		return
	}
	deadline := time.After(time.Duration(wait) * time.Second)
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.events, func(e app.Event) bool { return e.Seq > after })
		var found []app.Event
		if i >= 0 {
			found = slices.Clone(s.events[i:])
		}
		changed := s.changed
		s.mu.Unlock()
		if len(found) > 0 {
			answer(w, http.StatusOK, map[string]any{"events": found})
			return
		}
		select {
		case <-changed:
		case <-deadline:
			answer(w, http.StatusOK, map[string]any{"events": []app.Event{}})
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *fakeServer) log(r *http.Request, _ *cluster.View) any {
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64)
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	lines := slices.Clone(s.logs)
	lines = slices.DeleteFunc(lines, func(l app.LogLine) bool {
		return l.Seq <= after || r.FormValue("node") != "" && l.Node != r.FormValue("node") || r.FormValue("step") != "" && l.Step != r.FormValue("step")
	})
	if r.FormValue("tail") == "true" {
		lines = lines[max(0, len(lines)-limit):]
	}
	return map[string]any{"lines": lines[:min(limit, len(lines))]}
}

// testCluster is a cluster of two nodes whose create is in progress.
func testCluster(id, name string) *cluster.View {
	return &cluster.View{
		Cluster: app.Cluster{ID: id, Tenant: "default", Name: name, Owner: "admin", Template: "web", Provider: "fake", Size: 2,
			Services: []string{"app"}, Status: app.ClusterPending, CostPerHour: 0.5, CreatedAt: time.Now().Add(-time.Hour)},
		Nodes: []app.Node{
			{Cluster: id, Name: "n1", Hostname: name + "-1.local", Hardware: "small", Image: "plain", Services: []string{"app"}, Status: app.NodePlanned},
			{Cluster: id, Name: "n2", Hostname: name + "-2.local", Hardware: "small", Image: "plain", Services: []string{"db"}, Status: app.NodePlanned},
		},
		Operations: []app.Operation{{ID: 7, Cluster: id, Kind: app.OperationCreate, Status: app.OperationRunning, Total: 4, Expected: 4 * time.Second}},
		Links:      []app.Link{},
	}
}

// becomeActive ends the create of a cluster well.
func becomeActive(v *cluster.View) {
	v.Status = app.ClusterActive
	v.Operations[0].Status, v.Operations[0].Done = app.OperationSucceeded, 4
	for i := range v.Nodes {
		n := &v.Nodes[i]
		n.Status, n.SSHUser, n.HostKey = app.NodeReady, "root", fmt.Sprintf("ssh-ed25519 HOSTKEY%d comment", i+1)
		n.Addresses = map[string]string{app.AddressAccess: fmt.Sprintf("127.0.0.%d", i+2)}
		n.SSHPort = 22 + 2200*i
	}
	v.Links = []app.Link{{Label: "Shop", URL: "http://127.0.0.2:8080/"}}
}

func stepEvent(step string, state app.StepState, done int) app.Event {
	node, _, _ := strings.Cut(step, ".")
	return app.Event{At: time.Now(), Cluster: "c1", Operation: 7, Kind: app.EventStep, Node: node, Step: step, Status: string(state), Done: done, Total: 4}
}

func operationEvent(id int64, status app.OperationStatus) app.Event {
	return app.Event{At: time.Now(), Cluster: "c1", Operation: id, Kind: app.EventOperation, Status: string(status)}
}

// result is what a command line came to.
type result struct {
	code        int
	out, errOut string
}

// muster runs a command line against the server, with a home of its own.
func (s *fakeServer) muster(args ...string) result {
	s.t.Helper()
	c := &cli.Context{RetryTime: hangs}
	return s.musterWith(c, args...)
}

func (s *fakeServer) musterWith(c *cli.Context, args ...string) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), hangs)
	defer cancel()
	var out, errOut bytes.Buffer
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	c.Stdout, c.Stderr = &out, &errOut
	code := execute(ctx, c, append(args, "--server", s.url(), "--token", testToken))
	return result{code, out.String(), errOut.String()}
}
