package coordinator

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/program"
	"muster/jobs/internal/loop"
	"muster/portal/wire"
)

// Remote is the server as workers and provisioners on other hosts reach it. It may be used by many goroutines. An answer that
// does not come is ETransient; asking again is always safe.
type Remote struct {
	URL   string        // https://host:port
	Token func() string // of the worker or provisioner; it may change
	HTTP  *http.Client  // from NewHTTP
}

var (
	_ execution.Coordinator = (*Remote)(nil)
	_ execution.WorkWaiter  = (*Remote)(nil)
	_ fleet.Registry        = (*Remote)(nil)

	_ execution.CheckBatchSource = (*Remote)(nil)
)

const (
	CallTime    = 20 * time.Second // one message and its answer; a caller's own limit may be shorter
	awaitAnswer = 30 * time.Second // the same where the server waits for work
	claimTime   = 3 * time.Second  // until a claim is asked for again; three of these are less than a claim holds
	answerLimit = 512 << 20
	packFrom    = 4096
	pathWorker  = "/worker/v1/"
)

// NewHTTP makes a client whose connections are kept, and noticed when they are dead. TLS may be nil.
func NewHTTP(t *tls.Config) *http.Client {
	return &http.Client{
		// A redirect could lead the token to someone else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: t, ForceAttemptHTTP2: true,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: awaitAnswer,
			MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
			HTTP2: &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
		},
	}
}

// Claim implements execution.Coordinator. The same question is asked three times, so that steps handed out in an answer that was
// lost are known to someone.
func (r *Remote) Claim(ctx context.Context, w app.WorkerID, most int) ([]*execution.Assignment, error) {
	m := wire.ClaimMessage{Worker: w, Most: most, Nonce: rand.Text()}
	var answer wire.ClaimAnswer
	var err error
	for try := 1; try <= 3 && ctx.Err() == nil; try++ {
		once, cancel := context.WithTimeout(ctx, claimTime)
		err = r.ask(once, "claim", m, &answer)
		cancel()
		if app.CodeOf(err) != app.ETransient {
			break
		}
		_ = loop.Pause(ctx, loop.BackOff(50*time.Millisecond, try))
	}
	if err != nil {
		return nil, err
	}
	obey(answer.Plugins)
	steps := make([]*execution.Assignment, len(answer.Steps))
	for i, s := range answer.Steps {
		if steps[i], err = s.Unpack(); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// obey takes over what the server says of plugins; a failed call, and a server from before there were pins, say nothing.
func obey(pins map[string]string) {
	if pins != nil {
		program.SetPins(pins)
	}
}

func (r *Remote) Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]execution.Directive, error) {
	var answer wire.HeartbeatAnswer
	err := r.ask(ctx, "heartbeat", wire.HeartbeatMessage{Worker: w, Held: held}, &answer)
	obey(answer.Plugins)
	return answer.Directives, err
}

func (r *Remote) Report(ctx context.Context, w app.WorkerID, reports []execution.Report) ([]execution.Reported, error) {
	m := wire.ReportsMessage{Worker: w, Reports: make([]wire.ReportMessage, len(reports))}
	for i, rep := range reports {
		m.Reports[i] = wire.ReportMessage{Report: rep, Err: wire.MessageOf(rep.Err)}
	}
	var answer wire.ReportsAnswer
	if err := r.ask(ctx, "report", m, &answer); err != nil {
		return nil, err
	}
	obey(answer.Plugins)
	done := make([]execution.Reported, len(answer.Answers))
	for i, a := range answer.Answers {
		next, err := a.Next.Unpack()
		if err != nil {
			return nil, err
		}
		done[i] = execution.Reported{Next: next, Err: a.Err.Error()}
	}
	return done, nil
}

func (r *Remote) Hosts(ctx context.Context, w app.WorkerID, f app.Fence) ([]family.HostEntry, error) {
	var answer wire.HostsAnswer
	err := r.ask(ctx, "hosts", wire.HostsMessage{Worker: w, Fence: f}, &answer)
	return answer.Hosts, err
}

func (r *Remote) Log(ctx context.Context, w app.WorkerID, lines []app.LogLine) error {
	return r.ask(ctx, "log", wire.LogMessage{Worker: w, Lines: lines}, &wire.Empty{})
}

func (r *Remote) AwaitWork(ctx context.Context, w app.WorkerID, patience time.Duration) (bool, error) {
	var answer wire.AwaitAnswer
	ctx, cancel := context.WithTimeout(ctx, awaitAnswer)
	defer cancel()
	err := r.ask(ctx, "await", wire.AwaitMessage{Worker: w, Patience: patience}, &answer)
	obey(answer.Plugins)
	return answer.Work, err
}

func (r *Remote) AwaitCheckBatch(ctx context.Context, w app.WorkerID) (*execution.CheckBatch, error) {
	var answer wire.CheckBatchAnswer
	ctx, cancel := context.WithTimeout(ctx, awaitAnswer)
	defer cancel()
	err := r.ask(ctx, "check_batch", wire.CheckBatchMessage{Worker: w}, &answer)
	return answer.Round, err
}

func (r *Remote) ReportCheckBatch(ctx context.Context, w app.WorkerID, report execution.CheckBatchReport) error {
	return r.ask(ctx, "check_batch_end", wire.CheckBatchEndMessage{Worker: w, Report: report}, &wire.Empty{})
}

func (r *Remote) Register(ctx context.Context, reg fleet.Registration) (out fleet.Registered, err error) {
	err = r.ask(ctx, "register", reg, &out)
	return out, err
}

func (r *Remote) Beat(ctx context.Context, b fleet.Heartbeat) (out fleet.Orders, err error) {
	err = r.ask(ctx, "provisioner_heartbeat", b, &out)
	return out, err
}

func (r *Remote) Leave(ctx context.Context, id string) error {
	return r.ask(ctx, "leave", wire.LeaveMessage{ID: id}, &wire.Empty{})
}

// ask sends one message, once.
func (r *Remote) ask(ctx context.Context, what string, message, into any) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, CallTime)
		defer cancel()
	}
	b, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("jobs: %s: %w", what, err)
	}
	coding := ""
	if len(b) >= packFrom {
		b, coding = pack(b), "gzip"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.URL, "/")+pathWorker+what, bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("jobs: %s: %w", what, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.Token())
	if coding != "" {
		req.Header.Set("Content-Encoding", coding)
	}
	resp, err := r.HTTP.Do(req)
	if err != nil {
		return r.unreachable(err)
	}
	defer resp.Body.Close()
	b, err = io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return r.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		return refused(resp, b)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return app.Errorf(app.EInternal, "Can't read the server's response to %s %s: %w", what, r.URL, err)
	}
	return nil
}

func pack(b []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, _ = z.Write(b)
	_ = z.Close()
	return packed.Bytes()
}

func (r *Remote) unreachable(err error) error {
	// url.Error repeats method and address.
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	e := &app.Error{Code: app.ETransient, Message: "the server at " + r.URL + " isn't responding", Err: err}
	var wrong *tls.CertificateVerificationError
	if errors.As(err, &wrong) {
		e.Hint = "The server's certificate isn't trusted by this host. If the address is right, set --ca-fingerprint."
	}
	return e
}

// refused reads an error of the server's. One of something in between is judged by its status.
func refused(resp *http.Response, b []byte) error {
	var m struct {
		Error *wire.ErrorMessage `json:"error"`
	}
	if json.Unmarshal(b, &m) == nil && m.Error != nil && m.Error.Code != "" {
		return m.Error.Error()
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= http.StatusInternalServerError:
		return app.Errorf(app.ETransient, "the server responded %s", resp.Status)
	case resp.StatusCode == http.StatusUnauthorized:
		return app.Errorf(app.EUnauthorized, "the server responded %s", resp.Status)
	}
	return &app.Error{Code: app.EInvalid, Message: "This address isn't a Muster server: " + resp.Status,
		Hint: "Use the portal's address, without a path."}
}
