package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"muster/app/netguard"
	"muster/app/program"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
	"muster/cmd/muster/observe/metrics"
	"muster/jobs"
	"muster/jobs/budget"
	"muster/jobs/coordinator"
	"muster/jobs/queue"
	rest "muster/portal/client"
)

// workerSettings is the first line that a provisioner writes to a worker's stdin; workerWord is each later one. The input ends with the
// provisioner. Nothing of it is in arguments or environment, where others could read it.
type workerSettings struct {
	Name         string                   `json:"name"`
	Tenant       string                   `json:"tenant"`
	Server       string                   `json:"server"`
	CA           string                   `json:"ca_fingerprint,omitempty"`
	Installation string                   `json:"installation"`
	Data         string                   `json:"data"`
	Drain        time.Duration            `json:"drain"`
	Verbose      bool                     `json:"verbose,omitempty"`
	Cache        int64                    `json:"resource_cache,omitempty"` // bytes of resources on this host's disk
	OTLP         string                   `json:"otlp,omitempty"`
	LogFormat    string                   `json:"log_format,omitempty"`
	LogLevel     string                   `json:"log_level,omitempty"`
	Plugins      families.PluginConfig    `json:"plugins,omitzero"`
	Automators   families.AutomatorConfig `json:"automators,omitzero"`
	Networks     []netip.Prefix           `json:"tenant_networks,omitempty"`
	Pins         program.Pins             `json:"pins,omitempty"` // of plugins
	workerWord
}

type workerWord struct {
	Slots int    `json:"slots,omitempty"`
	Token string `json:"token,omitempty"`
	Drain bool   `json:"end,omitempty"` // take nothing new, and end when idle
}

// settingsTime is how long a worker waits for its settings.
const settingsTime = 30 * time.Second

func WorkerCommand(c *cli.Context) *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use:    "worker --tenant T",
		Short:  "Run the steps of one tenant (started by muster provisioner, with settings on stdin)",
		Hidden: true,
		Args:   cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return work(cmd.Context(), c, tenant)
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "`tenant` to work for")
	return cmd
}

func work(ctx context.Context, c *cli.Context, tenant string) error {
	words := make(chan []byte)
	go readWords(c.Stdin, words)
	var s workerSettings
	select {
	case b, ok := <-words:
		if !ok || json.Unmarshal(b, &s) != nil || s.Name == "" || s.Tenant == "" || s.Tenant != tenant || s.Slots < 1 {
			return cli.Usagef("only `muster provisioner` can start a worker").Hint("A worker gets its settings over stdin.")
		}
	case <-time.After(settingsTime):
		return cli.Usagef("no settings on stdin").Hint("Only `muster provisioner` can start a worker.")
	case <-ctx.Done():
		return ctx.Err()
	}
	w, err := startWorker(c, s)
	if err != nil {
		return err
	}
	defer w.close()
	return w.serve(ctx, words)
}

// readWords returns the lines of r, and closes the channel at its end.
func readWords(r io.Reader, words chan<- []byte) {
	defer close(words)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words <- append([]byte(nil), lines.Bytes()...)
	}
}

// workerProcess is a worker as a process.
type workerProcess struct {
	workerSettings
	token   atomic.Pointer[string]
	worker  *jobs.Worker
	server  *coordinator.Remote
	log     *slog.Logger
	closers []func() error
}

func startWorker(c *cli.Context, s workerSettings) (w *workerProcess, err error) {
	watch := ObserveConfig{OTLP: s.OTLP, Format: s.LogFormat, Level: s.LogLevel}
	w = &workerProcess{workerSettings: s, log: watch.Logger(c.Stderr, s.Verbose)}
	w.token.Store(&s.Token)
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	t, err := rest.Trust(s.CA)
	if err != nil {
		return nil, err
	}
	signal.Ignore(syscall.SIGPIPE) // even without a provisioner, we hand back our steps
	counts := metrics.NewPipeMeter(c.Stdout)
	w.closers = append(w.closers, counts.Close)
	tracer, end, err := watch.tracer("muster-worker", s.Name, w.log)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, end)
	client := coordinator.NewHTTP(t)
	w.closers = append(w.closers, func() error { client.CloseIdleConnections(); return nil })
	w.server = &coordinator.Remote{URL: s.Server, Token: func() string { return *w.token.Load() }, HTTP: client}
	var q *queue.Queue
	if url := os.Getenv("REDIS_URL"); url != "" {
		if q, err = queue.Open(url, s.Installation); err != nil {
			return nil, err
		}
		w.closers = append(w.closers, q.Close)
	}
	calls := budget.New(q, w.log)
	calls.Meter = counts
	guard := &netguard.Guard{Allow: s.Networks}
	accounts := &ProviderSet{Dir: filepath.Join(s.Data, "providers"), Installation: s.Installation, Log: w.log,
		budget: calls, meter: counts, tracer: tracer, guard: guard}
	w.closers = append(w.closers, accounts.Close)
	program.SetPins(s.Pins)
	if err := s.Plugins.Plug(context.Background(), w.log, nil); err != nil {
		return nil, err
	}
	if err := s.Automators.Plug(context.Background(), w.log, nil); err != nil {
		return nil, err
	}
	automators, err := tools()
	if err != nil {
		return nil, err
	}
	w.worker, err = jobs.StartWorker(jobs.WorkerConfig{Name: s.Name, Tenant: s.Tenant, Slots: s.Slots, Queue: q, Coordinator: w.server,
		Providers: accounts, Guard: guard.DialContext, Automators: automators, Log: w.log, Resources: resourceCache(s.Data, s.Cache, w.log),
		Meter: counts, Tracer: tracer})
	if err == nil {
		w.closers = append(w.closers, w.worker.Close)
	}
	return w, err
}

func (w *workerProcess) close() {
	for i := len(w.closers) - 1; i >= 0; i-- {
		_ = w.closers[i]()
	}
	w.closers = nil
}

// errOrphan ends a worker whose provisioner has ended.
var errOrphan = errors.New("the provisioner has ended, so this worker ends too")

// serve works until the provisioner stops it or ends itself.
func (w *workerProcess) serve(ctx context.Context, words <-chan []byte) error {
	follow, stop := context.WithCancel(context.Background())
	defer stop()
	go w.worker.Follow(follow, w.server)
	drained := make(chan struct{})
	drain := func() {
		stop()
		go func() {
			defer close(drained)
			ctx, cancel := context.WithTimeout(context.Background(), w.workerSettings.Drain)
			defer cancel()
			_ = w.worker.Drain(ctx)
		}()
	}
	draining := false
	asked := ctx.Done()
	for {
		select {
		case <-drained:
			return nil
		case <-asked: // a signal, to this process alone
			asked = nil
			if !draining {
				draining = true
				drain()
			}
		case b, ok := <-words:
			if !ok {
				return errOrphan
			}
			var word workerWord
			if err := json.Unmarshal(b, &word); err != nil {
				return errOrphan
			}
			if word.Token != "" {
				w.token.Store(&word.Token)
			}
			if word.Slots > 0 {
				w.worker.Resize(word.Slots)
			}
			if word.Drain && !draining {
				draining = true
				drain()
			}
		}
	}
}
