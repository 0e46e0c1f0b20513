package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/observe"
	"muster/app/program"
	"muster/portal/site"
	"muster/portal/wire"
)

// WorkerPath is the path of the API for workers and provisioners.
const WorkerPath = "/worker/v1/"

// TokenResolver resolves the tokens of workers and provisioners on other hosts. Errors are *app.Error, EUnauthorized for unknown or revoked
// tokens.
type TokenResolver interface {
	// RegistryOfToken returns the provisioner's contract for a provisioner token.
	RegistryOfToken(ctx context.Context, token string) (fleet.Registry, error)
	// CoordinatorOfToken returns the worker's contract, limited to the token's grant. It is an app.WorkWaiter too.
	CoordinatorOfToken(ctx context.Context, token string) (execution.Coordinator, error)
}

// Size limits of decompressed messages.
const (
	messageLimit = 8 << 20
	logLimit     = execution.MaxLogs*(execution.MaxLogText*2+512) + 4096
	// gzipMinSize is the size in bytes from which answers are compressed.
	gzipMinSize = 4096
	// claimKept is how long the answer to a claim is kept, in case it was lost.
	claimKept = 15 * time.Second
)

// WorkerAPI serves workers and provisioners on other hosts, each with its own token and limited to the token's grant.
type WorkerAPI struct {
	tokens TokenResolver
	log    *slog.Logger
	mux    *http.ServeMux
	serve  http.Handler

	mu     sync.Mutex
	claims map[string]*claimAnswer // by worker and nonce
	lines  map[string]*cancelWait  // by worker

	open  context.Context // until Close
	close context.CancelFunc
}

var _ http.Handler = (*WorkerAPI)(nil)

// claimAnswer is the answer to a claim, kept for a while.
type claimAnswer struct {
	at     time.Time
	done   chan struct{}
	answer wire.ClaimAnswer
	err    error
}

// NewWorkerAPI returns a WorkerAPI; close it after use. The meter, which may be nil, counts requests.
func NewWorkerAPI(o TokenResolver, log *slog.Logger, m observe.Meter) *WorkerAPI {
	a := &WorkerAPI{tokens: o, log: log, mux: http.NewServeMux(), claims: map[string]*claimAnswer{}, lines: map[string]*cancelWait{}}
	a.open, a.close = context.WithCancel(context.Background())

	// Provisioners
	a.mux.Handle("POST "+WorkerPath+"register", registryCall(a, register))
	a.mux.Handle("POST "+WorkerPath+"provisioner_heartbeat", registryCall(a, beat))
	a.mux.Handle("POST "+WorkerPath+"leave", registryCall(a, func(r fleet.Registry, ctx context.Context, m wire.LeaveMessage) (wire.Empty, error) {
		return wire.Empty{}, r.Leave(ctx, m.ID)
	}))

	// Workers
	a.mux.Handle("POST "+WorkerPath+"claim", workerCall(a, messageLimit, a.claim))
	a.mux.Handle("POST "+WorkerPath+"heartbeat", workerCall(a, messageLimit, workerHeartbeat))
	a.mux.Handle("POST "+WorkerPath+"report", workerCall(a, messageLimit, workerReport))
	a.mux.Handle("POST "+WorkerPath+"hosts", workerCall(a, messageLimit, workerHosts))
	a.mux.Handle("POST "+WorkerPath+"log", workerCall(a, logLimit, workerLog))
	a.mux.Handle("POST "+WorkerPath+"await", workerCall(a, messageLimit, a.await))
	a.mux.Handle("POST "+WorkerPath+"cancel_signal", workerCall(a, messageLimit, a.cancelSignal))

	a.mux.Handle("POST "+WorkerPath+"resource", http.HandlerFunc(a.resource))
	a.mux.Handle("POST "+WorkerPath+"resource_held", workerCall(a, messageLimit, workerHolds))

	a.mux.Handle("POST "+WorkerPath+"check_batch", workerCall(a, messageLimit, a.round))
	a.mux.Handle("POST "+WorkerPath+"check_batch_end", workerCall(a, messageLimit, workerRoundEnd))

	a.addTunnels()
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, site.ErrNoSuchPage) })
	// Requests start no traces: each carries many steps, which have their own.
	a.serve = site.Watched(m, nil, func(r *http.Request) string { return strings.TrimPrefix(r.Pattern, "POST ") }, a.mux)
	return a
}

// ServeHTTP answers one message.
func (a *WorkerAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	a.serve.ServeHTTP(w, r)
}

// register also says which plugins were removed, so that workers don't even start them to learn what they are.
func register(r fleet.Registry, ctx context.Context, m fleet.Registration) (fleet.Registered, error) {
	out, err := r.Register(ctx, m)
	out.Plugins = program.CurrentPins()
	return out, err
}

func beat(r fleet.Registry, ctx context.Context, m fleet.Heartbeat) (fleet.Orders, error) {
	out, err := r.Beat(ctx, m)
	out.Plugins = program.CurrentPins()
	return out, err
}

func registryCall[Q, A any](a *WorkerAPI, act func(fleet.Registry, context.Context, Q) (A, error)) http.Handler {
	return messageCall(a, messageLimit, a.tokens.RegistryOfToken, act)
}

func workerCall[Q, A any](a *WorkerAPI, limit int64, act func(context.Context, execution.Coordinator, Q) (A, error)) http.Handler {
	return messageCall(a, limit, a.tokens.CoordinatorOfToken, func(c execution.Coordinator, ctx context.Context, q Q) (A, error) { return act(ctx, c, q) })
}

// messageCall handles a message. It checks the token before it reads the body.
func messageCall[T, Q, A any](a *WorkerAPI, limit int64, open func(context.Context, string) (T, error), act func(T, context.Context, Q) (A, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
			a.refuse(w, r, &app.Error{Code: app.EUnauthorized, Message: "A provisioner or worker token is required."})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), site.RequestTime)
		defer cancel()
		to, err := open(ctx, token)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		var q Q
		if err := readMessage(w, r, limit, &q); err != nil {
			a.refuse(w, r, err)
			return
		}
		answer, err := act(to, ctx, q)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		writeMessage(w, r, http.StatusOK, answer)
	})
}

// readMessage reads a body, which may be compressed; the limit applies to its decompressed size too.
func readMessage(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	var body io.Reader = http.MaxBytesReader(w, r.Body, limit)
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return site.Malformed(err)
		}
		body = io.LimitReader(z, limit+1)
	default:
		return app.Errorf(app.EInvalid, "Unsupported content encoding. Use gzip.")
	}
	b, err := io.ReadAll(body)
	if err == nil && int64(len(b)) > limit {
		err = &http.MaxBytesError{Limit: limit}
	}
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	if err != nil {
		return site.Malformed(err)
	}
	return nil
}

func writeMessage(w http.ResponseWriter, r *http.Request, status int, answer any) {
	b, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if len(b) >= gzipMinSize && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		_, _ = z.Write(b)
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		b = packed.Bytes()
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

type refusalMessage struct {
	Error *wire.ErrorMessage `json:"error"`
}

// refuse answers with an error, without internal details, which are logged.
func (a *WorkerAPI) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e, how := site.Known(err)
	if r.Context().Err() == nil {
		switch {
		case e.Code == app.EInternal:
			a.log.ErrorContext(r.Context(), "handling a worker's message failed", "error", err, "path", r.URL.Path, "from", site.Address(r))
		case e.Code == app.EUnauthorized, e.Code == app.EForbidden:
			a.log.WarnContext(r.Context(), "refused a worker or provisioner", "why", e.Message, "path", r.URL.Path, "from", site.Address(r))
		}
	}
	writeMessage(w, r, how.Status, refusalMessage{wire.MessageOf(e)})
}

// claim returns steps. A repeated claim with the same nonce gets the same steps: the first answer may have been lost, and the steps would
// wait until their claims expire.
func (a *WorkerAPI) claim(ctx context.Context, c execution.Coordinator, m wire.ClaimMessage) (wire.ClaimAnswer, error) {
	if m.Nonce == "" || len(m.Nonce) > 100 {
		return wire.ClaimAnswer{}, app.Errorf(app.EInvalid, "A claim needs a nonce of at most 100 characters.")
	}
	key := m.Worker.Tenant + "\x00" + m.Worker.Name + "\x00" + m.Nonce
	a.mu.Lock()
	before, again := a.claims[key]
	if !again {
		before = &claimAnswer{at: time.Now(), done: make(chan struct{})}
		a.forget()
		a.claims[key] = before
	}
	a.mu.Unlock()
	if again {
		// A heartbeat without claims extends nothing, but checks that the token covers this worker.
		if _, err := c.Heartbeat(ctx, m.Worker, nil); err != nil {
			return wire.ClaimAnswer{}, err
		}
		select {
		case <-before.done:
			return before.answer, before.err
		case <-ctx.Done():
			return wire.ClaimAnswer{}, ctx.Err()
		}
	}
	// The claim continues if the worker disconnects, so that it finds the answer when it retries.
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), site.RequestTime)
	defer cancel()
	defer close(before.done)
	steps, err := c.Claim(asked, m.Worker, m.Most)
	if err == nil {
		before.answer, err = packSteps(steps)
	}
	if before.err = err; err != nil || len(steps) == 0 { // nothing to keep
		a.mu.Lock()
		delete(a.claims, key)
		a.mu.Unlock()
	}
	return before.answer, before.err
}

// forget drops expired answers. The lock is held.
func (a *WorkerAPI) forget() {
	for key, c := range a.claims {
		if time.Since(c.at) > claimKept {
			delete(a.claims, key)
		}
	}
}

func packSteps(steps []*execution.Assignment) (wire.ClaimAnswer, error) {
	answer := wire.ClaimAnswer{Steps: make([]*wire.AssignmentMessage, len(steps)), Plugins: program.CurrentPins()}
	for i, as := range steps {
		var err error
		if answer.Steps[i], err = wire.MessageOfAssignment(as); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

func workerHeartbeat(ctx context.Context, c execution.Coordinator, m wire.HeartbeatMessage) (wire.HeartbeatAnswer, error) {
	d, err := c.Heartbeat(ctx, m.Worker, m.Held)
	return wire.HeartbeatAnswer{Directives: d, Plugins: program.CurrentPins()}, err
}

func workerReport(ctx context.Context, c execution.Coordinator, m wire.ReportsMessage) (wire.ReportsAnswer, error) {
	reports := make([]execution.Report, len(m.Reports))
	for i, r := range m.Reports {
		reports[i] = r.Report
		reports[i].Err = r.Err.Error()
	}
	done, err := c.Report(ctx, m.Worker, reports)
	answer := wire.ReportsAnswer{Answers: make([]wire.ReportAnswer, len(done)), Plugins: program.CurrentPins()}
	for i, d := range done {
		next, e := wire.MessageOfAssignment(d.Next)
		answer.Answers[i] = wire.ReportAnswer{Next: next, Err: wire.MessageOf(d.Err)}
		if e != nil {
			return answer, e
		}
	}
	return answer, err
}

func workerHosts(ctx context.Context, c execution.Coordinator, m wire.HostsMessage) (wire.HostsAnswer, error) {
	hosts, err := c.Hosts(ctx, m.Worker, m.Fence)
	return wire.HostsAnswer{Hosts: hosts}, err
}

func workerLog(ctx context.Context, c execution.Coordinator, m wire.LogMessage) (wire.Empty, error) {
	return wire.Empty{}, c.Log(ctx, m.Worker, m.Lines)
}

func (a *WorkerAPI) await(ctx context.Context, c execution.Coordinator, m wire.AwaitMessage) (wire.AwaitAnswer, error) {
	waiter, ok := c.(execution.WorkWaiter)
	if !ok {
		return wire.AwaitAnswer{}, site.ErrNoSuchPage
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	some, err := waiter.AwaitWork(ctx, m.Worker, m.Patience)
	return wire.AwaitAnswer{Work: some, Plugins: program.CurrentPins()}, err
}
