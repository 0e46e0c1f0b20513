package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/chat"
	"muster/bot"

	"github.com/slack-go/slack"
)

var update = flag.Bool("update", false, "rewrite testdata")

func render(t testing.TB, summary string, blocks []slack.Block) []byte {
	t.Helper()
	b := new(bytes.Buffer)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{"text": summary, "blocks": blocks}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func card(status app.OperationStatus) bot.Card {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	p := chat.Progress{Cluster: app.Cluster{ID: "shop-1", Name: "shop", Owner: "ada", CostPerHour: 0.3, Currency: "USD", Status: app.ClusterPending},
		Nodes:     []app.Node{{Name: "n1", Status: app.NodeReady}, {Name: "n2", Status: app.NodeReady}, {Name: "n3", Status: app.NodeCreated}},
		Operation: app.Operation{ID: 7, Kind: app.OperationCreate, Status: status, Done: 5, Total: 12, StartedAt: at, Expected: 3 * time.Minute}}
	switch status {
	case app.OperationSucceeded:
		p.Cluster.Status, p.Operation.Done, p.Operation.EndedAt = app.ClusterActive, 12, at.Add(160*time.Second)
	case app.OperationFailed:
		p.Operation.EndedAt = at.Add(time.Minute)
		p.Failed, p.Lines = &app.Step{ID: "n3.web.install", Error: "exit status 100"}, []string{"Reading package lists...", "E: Unable to locate package <web> & *more*"}
	}
	return bot.NewCard(p, "https://m.test/clusters/shop-1", at.Add(time.Minute))
}

func TestBlocks(t *testing.T) {
	answer := func(a bot.Answer) func() (string, []slack.Block) {
		return func() (string, []slack.Block) { return answerBlocks(a) }
	}
	shows := func(s app.OperationStatus) func() (string, []slack.Block) {
		return func() (string, []slack.Block) { return cardBlocks(card(s)) }
	}
	for name, f := range map[string]func() (string, []slack.Block){
		"confirm": answer(bot.Answer{Title: "Delete shop?", Lines: []string{"All data on its 3 nodes will be lost. Owner: ada."},
			Links: []bot.Link{{Name: "View cluster", URL: "https://m.test/clusters/shop-1"}}, Buttons: []bot.Button{{Name: "Delete cluster", Value: `{"do":"delete","cluster":"shop-1"}`, Danger: true}}}),
		"sorry":        answer(bot.Answer{Title: "That didn't work", Lines: []string{`Cluster "<!channel>" doesn't exist.`}, Wrong: true}),
		"card_running": shows(app.OperationRunning), "card_done": shows(app.OperationSucceeded), "card_failed": shows(app.OperationFailed),
	} {
		summary, blocks := f()
		got, file := render(t, summary, blocks), filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n%s\nwanted\n%s", name, err, got, want)
		}
	}
}

// checkLimits holds blocks against what Slack documents, and looks for markup.
func checkLimits(t *testing.T, summary string, blocks []slack.Block) {
	t.Helper()
	if len(blocks) > 50 {
		t.Errorf("%d blocks", len(blocks))
	}
	if strings.ContainsAny(summary, "<>") || !utf8.ValidString(summary) {
		t.Errorf("the summary is %q", summary)
	}
	text := func(o *slack.TextBlockObject, most int) {
		if n := units(o.Text); o.Type != slack.PlainTextType || n > most || n == 0 || !utf8.ValidString(o.Text) {
			t.Errorf("a %s of %d letters (at most %d)", o.Type, n, most)
		}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case *slack.HeaderBlock:
			text(b.Text, 150)
		case *slack.SectionBlock:
			text(b.Text, 3000)
		case *slack.ContextBlock:
			for _, e := range b.ContextElements.Elements {
				text(e.(*slack.TextBlockObject), 2000)
			}
		case *slack.RichTextBlock:
			for _, e := range b.Elements {
				for _, words := range e.(*slack.RichTextPreformatted).Elements {
					text(plain(words.(*slack.RichTextSectionTextElement).Text, 1<<20), 3000)
				}
			}
		case *slack.ActionBlock:
			if n := len(b.Elements.ElementSet); n == 0 || n > 25 {
				t.Errorf("%d buttons in a row", n)
			}
			for _, e := range b.Elements.ElementSet {
				e := e.(*slack.ButtonBlockElement)
				text(e.Text, 75)
				if len(e.Value) > 2000 || len(e.URL) > 3000 || e.ActionID == "" {
					t.Errorf("a button of %d and %d bytes", len(e.Value), len(e.URL))
				}
			}
		default:
			t.Errorf("a %T, which nothing checks", b)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("shop", "a line", 3)
	f.Add("", "", 0)
	f.Add("<!channel> *b* 😀", strings.Repeat("😀é", 4000), 200)
	f.Add("\xff\xfe", "\xc3", 60)
	f.Fuzz(func(t *testing.T, title, line string, n int) {
		n = min(max(n, 0), 300)
		var lines []string
		for range n {
			lines = append(lines, line)
		}
		summary, blocks := answerBlocks(bot.Answer{Title: title, Lines: lines, Links: []bot.Link{{Name: title, URL: "https://m.test/" + title}},
			Buttons: []bot.Button{{Name: title, Value: line}}})
		checkLimits(t, summary, blocks)
		summary, blocks = cardBlocks(bot.Card{Title: title, Bar: line, Lines: lines, Log: lines, Link: bot.Link{Name: title, URL: "https://m.test"}})
		checkLimits(t, summary, blocks)
	})
}

// TestWhatSlackSays has its API answer in all the ways that matter.
func TestWhatSlackSays(t *testing.T) {
	var says, asked []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, strings.TrimPrefix(r.URL.Path, "/")+" "+r.FormValue("channel"))
		if r.Header.Get("Authorization") != "Bearer xoxb-1" && r.FormValue("token") != "xoxb-1" {
			t.Error("the token is missing")
		}
		if len(says) == 0 {
			_, _ = w.Write([]byte(`{"ok":true,"channel":"` + r.FormValue("channel") + `","ts":"1.5"}`))
			return
		}
		say := says[0]
		says = says[1:]
		if say == "429" {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte(`{"ok":false,"error":"` + say + `"}`))
	}))
	defer api.Close()
	p := poster{slack.New("xoxb-1", slack.OptionAPIURL(api.URL+"/"), slack.OptionHTTPClient(api.Client()))}
	says = []string{"not_in_channel"}
	if where, ts, err := p.Post(t.Context(), "C1", "U1", card(app.OperationRunning)); err != nil || where != "U1" || ts != "1.5" {
		t.Errorf("in a closed channel: %q %q %v", where, ts, err)
	}
	for say, code := range map[string]app.Code{"429": app.ERateLimit, "message_not_found": app.ENotFound, "invalid_auth": app.ECredentials, "internal_error": app.ETransient} {
		says = []string{say}
		err := p.Edit(t.Context(), "C1", "1.5", card(app.OperationRunning))
		if app.CodeOf(err) != code || strings.Contains(err.Error(), "xoxb") || code == app.ERateLimit && app.AsError(err).RetryAfter != 30*time.Second {
			t.Errorf("%s is %v", say, err)
		}
	}
	if strings.Join(asked[:3], ", ") != "chat.postMessage C1, chat.postMessage U1, chat.update C1" {
		t.Errorf("Slack was asked %v", asked)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Edit(ended, "C1", "1.5", card(app.OperationRunning)); !errors.Is(err, context.Canceled) || app.CodeOf(err) != app.ETransient {
		t.Errorf("cancelled is %v", err)
	}
}
