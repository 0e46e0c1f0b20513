package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/portal/site"

	"github.com/a-h/templ"
)

// While nothing happens an open page gets pings, and is read once in a while, in case a wake-up was lost; a page that no one looks at, whose
// script closes the line, asks for nothing at all.
func TestRestingPagesAskForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Now)
		p := New(Config{UseCases: useCases(f), Version: "1.2.3", Logger: quiet()})
		defer p.Close()
		var reads atomic.Int64
		p.live.pages["/rests"] = livePage{read: func(context.Context, app.Actor, *url.URL) ([]site.LiveOne, error) {
			reads.Add(1)
			return nil, nil
		}}
		tenant := app.TenantTopic(app.DefaultTenant)
		ctx, hide := context.WithCancel(t.Context())
		w, ended := &counting{header: http.Header{}}, make(chan error, 1)
		go func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live?page=%2Frests", nil)
			ended <- p.live.stream(w, r, ada)
		}()
		synctest.Wait()
		if reads.Load() != 1 || f.watching(tenant) != 1 {
			t.Fatalf("the page begins with %d reads and %d watches", reads.Load(), f.watching(tenant))
		}
		time.Sleep(liveLook - time.Second)
		synctest.Wait()
		if n, still := reads.Load(), w.count("event: still"); n != 1 || still < 3 {
			t.Errorf("an idle page is read %d times before liveLook, with %d pings", n, still)
		}
		time.Sleep(9 * liveLook)
		synctest.Wait()
		if n := reads.Load(); n > 11 {
			t.Errorf("within ten times liveLook it is read %d times", n)
		}
		hide()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		before := reads.Load()
		time.Sleep(10 * liveLook)
		synctest.Wait()
		if n := reads.Load() - before; n != 0 || f.watching(tenant) != 0 {
			t.Errorf("a closed page is read %d times and watched by %d", n, f.watching(tenant))
		}
	})
}

// counting is a browser that only counts events.
type counting struct {
	header http.Header
	text   atomic.Value
}

func (w *counting) Header() http.Header { return w.header }

func (w *counting) WriteHeader(int) {}

func (w *counting) Flush() {}

func (w *counting) Write(b []byte) (int, error) {
	before, _ := w.text.Load().(string)
	w.text.Store(before + string(b))
	return len(b), nil
}

func (w *counting) count(what string) int {
	all, _ := w.text.Load().(string)
	return strings.Count(all, what)
}

// However many pages someone has open, one look tells all of them whether the sign-in still counts.
func TestPagesOfASignInShareALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s attendance
		var looks atomic.Int64
		var ended atomic.Bool
		look := func(context.Context) error {
			looks.Add(1)
			if ended.Load() {
				return app.Errorf(app.EUnauthorized, "Gone.")
			}
			return nil
		}
		enter := func(id int64) (context.Context, func()) {
			ctx, cancel := context.WithCancel(t.Context())
			return ctx, s.enter(ctx, attendKey{id: id}, attendEvery, look, cancel)
		}
		first, leaveFirst := enter(1)
		second, leaveSecond := enter(1)
		other, leaveOther := enter(2)
		time.Sleep(attendEvery + time.Second)
		synctest.Wait()
		if n := looks.Load(); n != 2 {
			t.Errorf("three pages of two sign-ins looked %d times", n)
		}
		leaveFirst()
		leaveOther()
		time.Sleep(attendEvery)
		synctest.Wait()
		if n := looks.Load(); n != 3 || second.Err() != nil {
			t.Errorf("after the page that began it left: %d looks, %v", n, second.Err())
		}
		ended.Store(true)
		time.Sleep(attendEvery)
		synctest.Wait()
		if second.Err() == nil || first.Err() != nil || other.Err() != nil || len(s.all) != 0 {
			t.Errorf("the sign-in was ended: %v; pages that left before: %v, %v; %d are attended", second.Err(), first.Err(), other.Err(), len(s.all))
		}
		ended.Store(false)
		third, leaveThird := enter(1)
		leaveSecond()
		looks.Store(0)
		time.Sleep(attendEvery + time.Second)
		synctest.Wait()
		if n := looks.Load(); n != 1 || third.Err() != nil {
			t.Errorf("who signs in again is looked at %d times: %v", n, third.Err())
		}
		leaveThird()
		if len(s.all) != 0 {
			t.Error("a sign-in is attended without a page")
		}
	})
}

// Pages of one sign-in at the same address are read once for all of them; another address is another page.
func TestPagesOfASignInShareWhatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{UseCases: useCases(newFake(time.Now)), Version: "1.2.3", Logger: quiet()})
		defer p.Close()
		var reads atomic.Int64
		p.live.pages["/shown"] = livePage{read: func(context.Context, app.Actor, *url.URL) ([]site.LiveOne, error) {
			n := reads.Add(1)
			return []site.LiveOne{{ID: "n", HTML: templ.Raw(fmt.Sprintf("<b>%d</b>", n))}}, nil
		}}
		ctx, leave := context.WithCancel(t.Context())
		var open sync.WaitGroup
		follow := func(a app.Actor, page string) *counting {
			w := &counting{header: http.Header{}}
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live?page="+url.QueryEscape(page), nil)
			open.Go(func() { _ = p.live.stream(w, r, a) })
			synctest.Wait()
			return w
		}
		first, second := follow(ada, "/shown"), follow(ada, "/shown")
		if reads.Load() != 1 || second.count(`\u003cb\u003e1\u003c/b\u003e`) != 1 {
			t.Errorf("two pages are read %d times", reads.Load())
		}
		other := follow(root, "/shown")
		if reads.Load() != 2 || other.count(`\u003cb\u003e2\u003c/b\u003e`) != 1 {
			t.Errorf("someone else's page is read %d times in total", reads.Load())
		}
		if follow(ada, "/shown?all=true"); reads.Load() != 3 {
			t.Errorf("another address is read %d times in all", reads.Load())
		}
		time.Sleep(liveLook)
		synctest.Wait()
		if n := reads.Load(); n != 6 || first.count("event: change") != 2 {
			t.Errorf("after liveLook all are read %d times, and the first gets %d events", n, first.count("event: change"))
		}
		leave()
		open.Wait()
	})
}

// A page whose read panics keeps no other page from its turn.
func TestPanickingPageReturnsItsTurn(t *testing.T) {
	p := New(Config{UseCases: useCases(newFake(time.Now)), Version: "1.2.3", Logger: quiet()})
	defer p.Close()
	open := func(at string, read liveRead) *liveState {
		return &liveState{p: p.live, a: ada, at: &url.URL{Path: at}, page: livePage{read: read},
			counts: func(context.Context, app.Actor) map[string]int { return nil }}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bad := open("/bad", func(context.Context, app.Actor, *url.URL) ([]site.LiveOne, error) { panic("bug") })
	for range cap(p.live.turns) + 1 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the read didn't panic")
				}
			}()
			_, _ = bad.drawn(ctx)
		}()
	}
	good := open("/good", func(context.Context, app.Actor, *url.URL) ([]site.LiveOne, error) { return nil, nil })
	if _, err := good.drawn(ctx); err != nil {
		t.Errorf("after panics: %v", err)
	}
}
