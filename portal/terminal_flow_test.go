package portal

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/terminal"
	"muster/portal/site"

	"github.com/gorilla/websocket"
)

// termWindow is a browser's side of a stream: it counts what it's shown, and says how far it is.
type termWindow struct {
	t            *testing.T
	ws           *websocket.Conn
	at, reported int64
	jumps        int
}

func (w *userSite) window(path string) (*termWindow, says) {
	w.t.Helper()
	ws, m := w.opens(path)
	return &termWindow{t: w.t, ws: ws, at: m.At, reported: m.At}, m
}

// until reads until a text was shown.
func (v *termWindow) until(text string) {
	v.t.Helper()
	_ = v.ws.SetReadDeadline(time.Now().Add(time.Minute))
	for end := ""; !strings.HasSuffix(end, text); {
		kind, b, err := v.ws.ReadMessage()
		if err != nil {
			v.t.Fatalf("%v at %d, before %q", err, v.at, text)
		}
		var m says
		switch {
		case kind == websocket.BinaryMessage:
			v.at += int64(len(b))
			end += string(b)
			end = end[max(len(end)-100, 0):]
		case json.Unmarshal(b, &m) == nil && m.Type == "at" && m.At > v.at:
			v.at, end = m.At, ""
			v.jumps++
		default:
			v.t.Fatalf("%s at %d", b, v.at)
		}
		if v.at-v.reported > 64<<10 {
			v.reported = v.at
			v.types(websocket.TextMessage, `{"type":"seen","at":`+strconv.FormatInt(v.at, 10)+`}`)
		}
	}
}

func (v *termWindow) types(kind int, text string) {
	v.t.Helper()
	if err := v.ws.WriteMessage(kind, []byte(text)); err != nil {
		v.t.Fatal(err)
	}
}

// echo lets the terminal show so many bytes, and then a text.
func (v *termWindow) echo(size int, text string) {
	v.t.Helper()
	for n := 0; n < size; n += 32 << 10 {
		piece := strings.Repeat("x", 32<<10-8) + strconv.Itoa(1e7+n)
		v.types(websocket.BinaryMessage, piece)
		v.until(piece[len(piece)-8:])
	}
	v.types(websocket.BinaryMessage, text)
	v.until(text)
}

// Much is shown: who comes back, and who is too slow, continues from what is kept.
func TestMuchIsShownInATerminal(t *testing.T) {
	t.Parallel()
	const much = 2 << 20
	w := newTerminalSite(t).enter("ada")
	first, m := w.window(terminalPath)
	slow, _ := w.window(terminalPath + "?terminal=" + m.ID)
	first.echo(much, "the end")
	if first.at != much+7 || first.jumps != 0 {
		t.Errorf("%d bytes are shown, with %d gaps", first.at, first.jumps)
	}
	for name, query := range map[string]string{"a page that is loaded again": "", "a lost connection": "&at=1000&run=" + m.Run} {
		again, m := w.window(terminalPath + "?terminal=" + m.ID + query)
		if m.At <= much/2 || m.Old != first.at {
			t.Errorf("%s begins at %d, and what is old ends at %d", name, m.At, m.Old)
		}
		if again.until("the end"); again.at != first.at {
			t.Errorf("%s is at %d", name, again.at)
		}
		_ = again.ws.Close()
	}
	slow.until("the end")
	if slow.at != first.at || slow.jumps == 0 {
		t.Errorf("one that was slow is at %d of %d, with %d gaps", slow.at, first.at, slow.jumps)
	}
	_ = first.ws.Close()
	slow.echo(much, "more")
}

func TestTerminalsThatNeedAProof(t *testing.T) {
	t.Parallel()
	const page = "/clusters/shop-1/nodes/n1/terminal"
	w := newTerminalSite(t).enter("ada")
	if _, err := w.app.Terminal.SetTerminalSettings(t.Context(), w.as("abe"), terminal.Settings{StepUp: true, Record: true, KeepDays: 7}); err != nil {
		t.Fatal(err)
	}
	w.get(page).has(t, `data-announce="7 days"`)
	// Recording was turned on when the page was open.
	if _, m := w.opens(terminalPath); m.Type != "end" || m.Reason != "announce" || !strings.Contains(m.Hint, "kept for 7 days") {
		t.Errorf("%+v", m)
	}
	w.clock.pass(app.FreshWithin + time.Second)
	if _, m := w.opens(terminalPath + "?announced=1"); m.Type != "end" || m.Reason != app.StepUpReason {
		t.Errorf("%+v", m)
	}
	if a := w.get(page); a.header.Get("Location") != "/step-up?next="+url.QueryEscape(page) {
		t.Fatalf("%d to %q", a.status, a.header.Get("Location"))
	}
	if a := w.post("/step-up", url.Values{"next": {page}, "password": {horse}}); a.header.Get("Location") != page {
		t.Fatalf("%d to %q", a.status, a.header.Get("Location"))
	}
	w.get(page).reads(http.StatusOK)
	_, m := w.opens(terminalPath + "?announced=1")
	if m.Type != "open" {
		t.Fatalf("%+v", m)
	}
	// Later, they come back.
	w.clock.pass(app.FreshWithin + time.Second)
	w.get(page).reads(http.StatusOK)
	if _, again := w.opens(terminalPath + "?terminal=" + m.ID); again.ID != m.ID {
		t.Errorf("%+v", again)
	}
	if err := w.app.Terminal.EndTerminal(t.Context(), w.as("ada"), m.ID); err != nil {
		t.Fatal(err)
	}
	if a := w.get(page); a.status != http.StatusSeeOther {
		t.Errorf("without an open terminal: %d", a.status)
	}
}

// A superadmin's groups don't count in another tenant, nor end streams there. The pages of a sign-in in two tenants are checked apart.
func TestStreamsOfSuperadminsInOtherTenants(t *testing.T) {
	t.Parallel()
	w := newUserSite(t)
	root := w.as("root")
	if _, err := w.app.Identity.Groups.SaveGroup(t.Context(), root, identity.GroupChange{Name: "ops", Add: []string{"root"}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.app.Identity.Tenants.CreateTenant(t.Context(), root, identity.NewTenant{Name: "empty"}); err != nil {
		t.Fatal(err)
	}
	w.p.live.attend = time.Millisecond
	looks := &lookedAt{SignIns: w.p.SignIns}
	w.p.SignIns = looks
	began, ended := make(chan string), make(chan string, 2)
	w.enter("root")
	pages := w.p.served
	stream := w.p.Sessions.LoadAndSave(w.p.member(w.p.live.attended(func(_ http.ResponseWriter, r *http.Request, a app.Actor) error {
		began <- a.Tenant
		<-r.Context().Done()
		ended <- a.Tenant
		return nil
	})))
	w.p.served = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/live" {
			stream.ServeHTTP(rw, r)
		} else {
			pages.ServeHTTP(rw, r)
		}
	})
	for _, tenant := range []string{"empty", app.DefaultTenant} {
		if a := w.post("/tenant", url.Values{"tenant": {tenant}}); a.status != http.StatusSeeOther {
			t.Fatalf("%d: %s", a.status, a.text())
		}
		go func() { _, _ = w.http.Do(w.request("GET", "/live", "")) }()
		if in := <-began; in != tenant {
			t.Fatalf("the stream is in %s", in)
		}
	}
	looks.more(20)
	if len(ended) != 0 {
		t.Fatalf("the stream in %s ended although nothing happened", <-ended)
	}
	if _, err := w.app.Identity.Groups.SaveGroup(t.Context(), root, identity.GroupChange{Name: "ops", Remove: []string{"root"}}); err != nil {
		t.Fatal(err)
	}
	if in := <-ended; in != app.DefaultTenant {
		t.Fatalf("the stream in %s ended with the group", in)
	}
	looks.more(20)
	if len(ended) != 0 {
		t.Fatal("the stream in another tenant ended with the group")
	}
	if err := w.app.Identity.Tenants.DeleteTenant(t.Context(), root, "empty"); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// lookedAt counts looks at sign-ins of streams.
type lookedAt struct {
	site.SignIns
	looks atomic.Int64
}

func (l *lookedAt) ActorOfSession(ctx context.Context, id int64, v identity.Visit) (app.Actor, error) {
	if v.Looking {
		l.looks.Add(1)
	}
	return l.SignIns.ActorOfSession(ctx, id, v)
}

// more waits for looks.
func (l *lookedAt) more(n int64) {
	for until, late := l.looks.Load()+n, time.Now().Add(time.Minute); l.looks.Load() < until && time.Now().Before(late); {
		time.Sleep(time.Millisecond)
	}
}
