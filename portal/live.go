package portal

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/portal/site"

	"github.com/a-h/templ"
)

// Timing of live pages.
const (
	liveGap  = time.Second // between two updates of a page
	liveLook = time.Hour   // check even without events, in case a wake-up was lost; the browser counts ages and remaining times
)

// A page becomes live in three steps; without a script it stays as loaded.
//
//  1. Its templ parts have an element with an id each, of the same id as the liveOne. A long list is one liveOne with rows: an
//     element with the id whose children are the rows, each with an id of its own; then only rows that changed are sent.
//  2. A reader of those parts is added to livePages, under the path of the page. It gets the page's own address, and only reads.
//  3. The handler sets f.Live = true before it renders, so that list.js is loaded.
//
// list.js opens one event stream, GET /live?page=PATH?QUERY, closes it while the page is hidden, replaces what changed, and keeps focus,
// checked boxes and open details. The store wakes the stream, at most once a second; idle tenants cost nothing.
type liveRead func(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error)

// livePage is a live page.
type livePage struct {
	read liveRead
	// wakes returns the topics that wake it; nil: all changes in the actor's tenant.
	wakes func(a app.Actor) []app.Topic
	every time.Duration // 0: liveLook
	// output is for pages of a cluster, by the second part of their path, that show output: it wakes no list of the tenant.
	output bool
}

// ofInstallation wakes pages of the installation on changes in any tenant or provisioner.
func ofInstallation(app.Actor) []app.Topic {
	return []app.Topic{app.EverythingTopic(), app.SharesTopic()}
}

// livePages are the live pages by path, in which * matches one segment.
func (p services) livePages() map[string]livePage {
	return map[string]livePage{
		// Leases come to those that expire soon.
		"/":      {read: p.home.Live, every: 10 * time.Minute},
		"/admin": {read: p.home.AdminLive, every: time.Minute, wakes: func(a app.Actor) []app.Topic { return []app.Topic{app.TenantTopic(a.Tenant), app.SharesTopic()} }},
		// Calls wake no page.
		"/admin/provider-health": {read: p.fleet.ProviderHealthLive, wakes: ofInstallation, every: 10 * time.Second},
		"/admin/queues":          {read: p.execution.QueuesLive, wakes: ofInstallation, every: time.Minute},
		"/admin/webhooks/*":      {read: p.webhook.HookLive, every: time.Minute},
		"/clusters":              {read: p.cluster.List.Live},
		"/activity":              {read: p.activity.Live},
		// A check that failed wakes no page.
		"/clusters/*/receipt": {read: p.fleet.ReceiptLive, every: 10 * time.Second},
		"/notifications":      {read: p.notification.Live},
		"/clusters/*/runs/*":  {read: p.run.Live, output: true},
		"/orphans":            {read: p.fleet.OrphansLive, wakes: ofInstallation},
		// It shows when each was last seen.
		"/provisioners": {read: p.fleet.ProvisionersLive, wakes: ofInstallation, every: 10 * time.Second},
		"/manual-steps": {read: p.cluster.ManualSteps.Live},
		"/queue":        {read: p.execution.QueueLive, every: time.Minute},
		"/requests":     {read: p.policy.RequestsLive},
		"/requests/*":   {read: p.policy.RequestLive},
	}
}

// liveUpdates updates open pages, and ends them with their sign-in.
type liveUpdates struct {
	*site.Site

	pages      map[string]livePage
	drawn      site.SharedRead[*drawnPage] // by sign-in and address
	attendance attendance                  // of the sign-ins that opened the pages
	attend     time.Duration               // interval between checks of a page's sign-in
	turns      chan struct{}               // of reads; see drawn
}

// find returns the live page at a path.
func (p *liveUpdates) find(at string) (livePage, bool) {
	if one, ok := p.pages[at]; ok {
		return one, true
	}
	for pattern, one := range p.pages {
		if ok, err := path.Match(pattern, at); ok && err == nil {
			return one, true
		}
	}
	return livePage{}, false
}

// stream updates a page. Events: version (Muster's version), change (JSON, see liveChange), still (no change, but the connection works). The
// id of a change is a hash of the whole content: a reader that reconnects with the same one gets nothing.
func (p *liveUpdates) stream(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	at, err := url.Parse(r.URL.Query().Get("page"))
	if err != nil || at.IsAbs() || at.Host != "" {
		return site.ErrNotLive
	}
	one, ok := p.find(at.Path)
	if !ok {
		return site.ErrNotLive
	}
	if r.Header.Get("Muster-Part") == "probe" { // a script wants to know why its stream was refused
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	free, err := p.Streams.Take(a)
	if err != nil {
		return err
	}
	defer free()
	l := &liveState{p: p, a: a, at: at, page: one, counts: p.counts, sent: map[string]string{}, seen: r.Header.Get("Last-Event-ID")}
	wakes := []app.Topic{app.TenantTopic(a.Tenant)}
	if one.wakes != nil {
		wakes = one.wakes(a)
	}
	if parts := strings.Split(at.Path, "/"); one.output {
		wakes = append(wakes, app.OutputTopic(parts[2]))
	}
	l.topics = liveTopics(a, wakes)
	// Watching starts before the first read, so that no change is missed. Pages with the same topics share a watch, which may outlive the
	// page that started it.
	changed, stop := p.Broadcaster.Enter(l.topics, func() (<-chan struct{}, func()) {
		return p.watch(context.WithoutCancel(r.Context()), a, wakes)
	})
	defer stop()
	first, err := l.look(r.Context())
	if err != nil {
		return err
	}
	out, err := site.OpenStream(w, p.Meter)
	if err != nil {
		return nil // the reader is gone
	}
	out.Add("", "version", []byte(p.Version))
	if err := l.run(r.Context(), out, first, changed); err != nil {
		p.Log.DebugContext(r.Context(), "live page ended", "error", err, "page", at.Path)
	}
	return nil
}

// watch is Watch for several topics.
func (p *liveUpdates) watch(ctx context.Context, a app.Actor, what []app.Topic) (<-chan struct{}, func()) {
	if len(what) == 1 {
		return p.Feed.Watch(a, what[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	all := make(chan struct{}, 1)
	var wg sync.WaitGroup
	for _, w := range what {
		changed, stop := p.Feed.Watch(a, w)
		wg.Go(func() {
			defer stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-changed:
				}
				select {
				case all <- struct{}{}:
				default:
				}
			}
		})
	}
	return all, func() { cancel(); wg.Wait() }
}

// liveState is one open page.
type liveState struct {
	p      *liveUpdates
	a      app.Actor
	at     *url.URL
	page   livePage
	counts func(context.Context, app.Actor) map[string]int
	sent   map[string]string // hashes of sent content by id; rows under the id of their list, a slash, and their own
	orders map[string]string // by id of a list, its rows in order
	seen   string            // hash of the reader's earlier content
	topics string            // its topics
	cost   time.Duration     // of the last read; 0 if it was made for another page
}

// liveChange is a change. A reader replaces the elements with these ids; in lists, it adds rows with new HTML, keeps the others, and orders
// them. Counts are the numbers in the navigation.
type liveChange struct {
	Parts  [][2]string    `json:"parts,omitempty"`
	Lists  []liveList     `json:"lists,omitempty"`
	Counts map[string]int `json:"counts,omitempty"`
}

type liveList struct {
	ID    string            `json:"id"`
	Order []string          `json:"order"`
	Rows  map[string]string `json:"rows,omitempty"`
}

func (c liveChange) empty() bool { return len(c.Parts)+len(c.Lists)+len(c.Counts) == 0 }

// liveLooked is the result of one read.
type liveLooked struct {
	change liveChange
	sum    string
}

func (l *liveState) run(ctx context.Context, out *site.Stream, found liveLooked, changed <-chan struct{}) error {
	every := l.page.every
	if every == 0 {
		every = liveLook
	}
	look, still := time.NewTicker(every), time.NewTicker(site.StreamPing)
	defer look.Stop()
	defer still.Stop()
	for {
		if !found.change.empty() && found.sum != l.seen {
			b, err := json.Marshal(found.change)
			if err != nil {
				return err
			}
			out.Add(found.sum, "change", b)
		}
		l.seen = ""
		if err := out.Flush(); err != nil {
			return err
		}
		// Expensive reads are made less often.
		if err := l.p.pause(ctx, liveGap+2*l.cost); err != nil {
			return err
		}
	waiting:
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-l.p.Closing:
				return http.ErrServerClosed
			case <-still.C:
				out.Add("", "still", []byte("still"))
				if err := out.Flush(); err != nil {
					return err
				}
			case <-look.C:
				break waiting
			case <-changed:
				break waiting
			}
		}
		var err error
		if found, err = l.look(ctx); err != nil {
			return err
		}
	}
}

// pause waits, unless the stream ends first.
func (p *liveUpdates) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.Closing:
		return http.ErrServerClosed
	case <-t.C:
		return nil
	}
}

// look reads the page and returns what changed.
func (l *liveState) look(ctx context.Context) (liveLooked, error) {
	ctx, cancel := context.WithTimeout(ctx, site.RequestTime)
	defer cancel()
	d, err := l.drawn(ctx)
	if err != nil {
		return liveLooked{}, err
	}
	var c liveChange
	now, orders := map[string]string{}, map[string]string{}
	all := sha256.New()
	note := func(key, text string) (changed bool) {
		sum := sha256.Sum256([]byte(text))
		now[key] = string(sum[:12])
		all.Write([]byte(key))
		all.Write(sum[:])
		return l.sent[key] != now[key]
	}
	for _, one := range d.parts {
		if one.rows == nil {
			if note(one.id, one.html) {
				c.Parts = append(c.Parts, [2]string{one.id, one.html})
			}
			continue
		}
		list := liveList{ID: one.id, Order: []string{}, Rows: map[string]string{}}
		for _, row := range one.rows {
			if note(one.id+"/"+row.id, row.html) {
				list.Rows[row.id] = row.html
			}
			list.Order = append(list.Order, row.id)
		}
		orders[one.id] = strings.Join(list.Order, " ")
		if before, known := l.orders[one.id]; !known || before != orders[one.id] || len(list.Rows) > 0 {
			c.Lists = append(c.Lists, list)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.counts)) {
		if note("count:"+name, strconv.Itoa(d.counts[name])) {
			if c.Counts == nil {
				c.Counts = map[string]int{}
			}
			c.Counts[name] = d.counts[name]
		}
	}
	l.sent, l.orders = now, orders
	return liveLooked{c, base64.RawURLEncoding.EncodeToString(all.Sum(nil)[:12])}, nil
}

func rendered(ctx context.Context, c templ.Component) (string, error) {
	var b strings.Builder
	err := c.Render(ctx, &b)
	return b.String(), err
}

// counts are the numbers in the navigation.
func (p *liveUpdates) counts(ctx context.Context, a app.Actor) map[string]int {
	return map[string]int{"requests": p.Inbox(ctx, a), "questions": p.Asking(ctx, a), "notifications": p.Unread(ctx, a)}
}
