package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// Timing of the live view. Busy clusters are followed by their events; the list is read again on an event, and otherwise only to find
// new operations.
const (
	topLook   = 15 * time.Second // between reads without events
	topPause  = time.Second      // minimum between reads
	topTick   = time.Second      // how often times advance
	topFollow = 8                // busy clusters to follow
	topNewest = 500              // newest clusters to search for busy ones
	topSpace  = 4                // lines that aren't rows
)

// topView is the live view's content.
type topView struct {
	At       time.Time            `json:"at"`
	Work     int                  `json:"at_work"` // clusters
	Queue    *execution.Queue     `json:"queue,omitempty"`
	Clusters []app.ClusterSummary `json:"clusters"` // busy ones, then the most expensive
}

func TopCommand(c *cli.Context) *cobra.Command {
	var once bool
	var limit int
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch busy clusters, the queue, and the most expensive clusters",
		Long: "Watch busy clusters, the queue (for admins), and the most expensive clusters. On a terminal the view updates until you press q or\n" +
			"Ctrl-C; piped, or with --once, one plain table is printed.",
		Example: "  muster top\n  muster top --once --limit 10\n  muster --format json top | jq .queue.queued",
		Args:    cli.AtMost(0),
	}
	cmd.Flags().BoolVar(&once, "once", false, "print the view once and exit")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of `clusters`")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		if limit < 1 || limit > topNewest {
			return cli.Usagef("--limit must be from 1 to %d, not %d", topNewest, limit)
		}
		t := &top{c: c, client: cl, limit: limit}
		v, err := t.read(ctx)
		if err != nil {
			return err
		}
		switch {
		case c.JSON():
			return c.PrintJSON(v)
		case once || !cli.Moves(c.Stdout):
			fmt.Fprintln(c.Stdout, v.head(v.At))
			if len(v.Clusters) == 0 {
				return nil
			}
			fmt.Fprintln(c.Stdout)
			return v.table(v.At).Show(c)
		}
		return t.live(ctx, v)
	})
}

// top reads and prints the view.
type top struct {
	c      *cli.Context
	client *cli.Client
	limit  int
	closed bool // this user isn't allowed to see the queue
}

// read fetches the whole view once.
func (t *top) read(ctx context.Context) (*topView, error) {
	v := &topView{At: time.Now(), Clusters: []app.ClusterSummary{}}
	newest, err := t.client.Clusters.List(ctx, app.ClusterFilter{Limit: topNewest})
	if err != nil {
		return nil, err
	}
	dearest := newest
	if len(newest) == topNewest { // there may be more
		if dearest, err = t.client.Clusters.List(ctx, app.ClusterFilter{Limit: t.limit, Sort: app.SortCost}); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	for _, s := range slices.Concat(newest, dearest) {
		if !seen[s.ID] {
			seen[s.ID] = true
			v.Clusters = append(v.Clusters, s)
		}
	}
	slices.SortStableFunc(v.Clusters, func(a, b app.ClusterSummary) int {
		return cmp.Or(-compareBool(atWork(a), atWork(b)), -cmp.Compare(a.CostPerHour, b.CostPerHour), strings.Compare(a.Name, b.Name))
	})
	for _, s := range v.Clusters {
		if atWork(s) {
			v.Work++
		}
	}
	v.Clusters = v.Clusters[:min(len(v.Clusters), t.limit)]
	return v, t.readQueue(ctx, v)
}

// readQueue fetches the queue, if this user is allowed to see it.
func (t *top) readQueue(ctx context.Context, v *topView) error {
	if t.closed {
		return nil
	}
	q, err := t.client.Queues.Get(ctx)
	switch {
	case err == nil:
		v.Queue = &q
	case app.CodeOf(err) == app.EForbidden:
		t.closed = true
	default:
		return err
	}
	return nil
}

func atWork(s app.ClusterSummary) bool { return s.Operation != nil && !s.Operation.Status.Ended() }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// head is the summary line.
func (v *topView) head(now time.Time) string {
	cost, currency := 0.0, ""
	for _, s := range v.Clusters {
		cost, currency = cost+s.CostPerHour, s.Currency
	}
	parts := []string{now.Format(time.TimeOnly), "busy: " + humanize.Count(v.Work, "cluster")}
	if q := v.Queue; q != nil {
		parts = append(parts, humanize.Count(q.Running, "running step"), fmt.Sprintf("%d queued", q.Queued))
		if q.Slots >= 0 && q.Workers >= 0 {
			parts = append(parts, humanize.Count(q.Slots, "slot")+" of "+humanize.Count(q.Workers, "worker"))
		}
	}
	return strings.Join(append(parts, humanize.PerHour(cost, currency)+" for the clusters shown"), " · ")
}

func (v *topView) table(now time.Time) *cli.Table {
	t := cli.NewTable("NAME", "NODES>", "COST/H>", "STATUS", "DONE>", "TIME>", "REASON", "OWNER", "TEMPLATE")
	for _, s := range v.Clusters {
		status, done, long, why := string(s.Status), "-", "-", ""
		if o := s.Operation; atWork(s) {
			status, done, long = o.Kind.Text()+" "+string(o.Status), fmt.Sprintf("%d/%d", o.Done, o.Total), cli.Clock(now.Sub(o.CreatedAt))
			why = v.reason(o.ID)
		}
		t.Add(s.Name, strconv.Itoa(s.Size), humanize.Price(s.CostPerHour, s.Currency), status, done, long, why, s.Owner, s.Template)
	}
	return t
}

// reason is what an operation is waiting for, if known.
func (v *topView) reason(operation int64) string {
	if v.Queue != nil {
		for _, l := range v.Queue.Operations {
			if l.Operation == operation {
				return l.Text
			}
		}
	}
	return ""
}

// live shows the view until it's closed. The terminal is restored in any case.
func (t *top) live(ctx context.Context, v *topView) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, restore, err := readKeys(t.c.Stdin)
	if err != nil {
		return err
	}
	defer restore()
	fmt.Fprint(t.c.Stdout, cli.Control(t.c.Stdout, "\x1b[?1049h\x1b[?25l"))
	defer fmt.Fprint(t.c.Stdout, cli.Control(t.c.Stdout, "\x1b[?25h\x1b[?1049l"))

	heard := make(chan struct{}, 1)
	follow := &followers{client: t.client, heard: heard, of: map[string]context.CancelFunc{}}
	defer follow.wait()
	defer cancel()
	read := make(chan topRead, 1)
	look := func() {
		go func() {
			v, err := t.read(ctx)
			read <- topRead{v, err}
		}()
	}
	ticks := time.NewTicker(topTick)
	defer ticks.Stop()
	var trouble error
	looking, due, last := false, false, time.Now()
	for follow.set(ctx, v); ; {
		t.draw(v, trouble)
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is a regular end
		case k, open := <-keys:
			switch {
			case !open:
				keys = nil
			case k == 'q' || k == 'Q' || k == 3 || k == 4:
				return nil
			case k == 'r' || k == ' ':
				due = true
			}
		case <-heard:
			due = true
		case r := <-read:
			looking, last = false, time.Now()
			if trouble = r.err; r.err == nil {
				v = r.view
				follow.set(ctx, v)
			}
		case <-ticks.C:
		}
		if since := time.Since(last); !looking && since >= topPause && (due || since >= topLook) {
			looking, due = true, false
			look()
		}
	}
}

type topRead struct {
	view *topView
	err  error
}

// draw puts as much of the view on the screen as fits.
func (t *top) draw(v *topView, trouble error) {
	width, height := cli.TerminalSize(t.c.Stdout)
	now, paint := time.Now(), t.c.Painter(t.c.Stdout)
	lines := []string{paint(cli.ColourHead, cli.Cut(v.head(now), width))}
	if trouble != nil {
		lines = append(lines, paint(cli.ColourGoes, cli.Cut("Last updated "+humanize.Ago(now, v.At)+": "+cli.InLine(app.AsError(trouble).Message), width)))
	} else {
		lines = append(lines, "")
	}
	rows := v.table(now)
	hidden := len(rows.Rows) - 1 - max(height-topSpace, 1)
	if hidden > 0 {
		rows.Rows = rows.Rows[:len(rows.Rows)-hidden]
	}
	if t.c.Wide {
		lines = append(lines, rows.Lines(0, paint)...)
	} else {
		lines = append(lines, rows.Lines(width, paint)...)
	}
	last := "q: quit, r: refresh"
	if hidden > 0 {
		last += fmt.Sprintf("; %d more below", hidden)
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:min(len(lines), max(height-1, 0))], cli.Cut(last, width))
	own := func(sequence string) string { return cli.Control(t.c.Stdout, sequence) }
	_, _ = io.WriteString(t.c.Stdout, own("\x1b[H")+strings.Join(lines, own("\x1b[K\r\n"))+own("\x1b[K\x1b[J"))
}

// followers wait for events of busy clusters.
type followers struct {
	client *cli.Client
	heard  chan<- struct{}
	of     map[string]context.CancelFunc
	all    sync.WaitGroup
}

// set follows exactly the busy clusters of a view.
func (f *followers) set(ctx context.Context, v *topView) {
	wanted := map[string]bool{}
	for _, s := range v.Clusters {
		if !atWork(s) || len(wanted) == topFollow {
			break
		}
		wanted[s.ID] = true
		if f.of[s.ID] == nil {
			own, stop := context.WithCancel(ctx)
			f.of[s.ID] = stop
			f.all.Go(func() { f.follow(own, s.ID) })
		}
	}
	for id, stop := range f.of {
		if !wanted[id] {
			stop()
			delete(f.of, id)
		}
	}
}

func (f *followers) wait() { f.all.Wait() }

// follow signals each event of a cluster. It ends with ctx.
func (f *followers) follow(ctx context.Context, id string) {
	after := int64(0)
	for first := true; ctx.Err() == nil; {
		hold := pollWait
		if first {
			hold = 0 // earlier events are on the screen
		}
		asked := time.Now()
		events, err := f.client.Clusters.Events(ctx, id, after, hold)
		for _, e := range events {
			after = max(after, e.Seq)
		}
		switch {
		case first && err == nil && len(events) > 0:
			continue // there may be more earlier events
		case first && err == nil:
			first = false
			continue
		case len(events) > 0:
			select {
			case f.heard <- struct{}{}:
			default:
			}
			continue
		case err == nil && time.Since(asked) > topPause:
			continue
		}
		select { // the server doesn't answer at the moment
		case <-ctx.Done():
		case <-time.After(topPause):
		}
	}
}
