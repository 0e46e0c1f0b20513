//go:build real

package portal

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/app"
	"muster/app/family"
	"muster/app/terminal"
	"muster/portal/portaltest"
)

// hostileOutput is what a program shows that wants more than to be read: each part is something that some terminal obeys.
var hostileOutput = []string{
	"\x1b]52;c;aGFja2Vk\a", "\x1b]0;hacked title\a", "\x1b]2;hacked\x1b\\", // the clipboard, the window's title
	"\x1b[c", "\x1b[>c", "\x1b[5n", "\x1b[6n", "\x1b[21t", "\x1b[18t", "\x05", "\x1bP$qm\x1b\\", "\x1b]10;?\a", "\x1b]11;?\x1b\\", // questions
	"\x1b]8;;javascript:document.title='hacked'\x1b\\click\x1b]8;;\x1b\\", "\x1b]8;;data:text/html,hacked\x1b\\click\x1b]8;;\x1b\\",
	"<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>",
	"\x1b[8;9999;9999t", "\x1b[3;0;0t", "\x1b]1337;File=inline=1:AAAA\a", "\x1bPq#0;2;0;0;0~~\x1b\\", "\x1b[?1049h\x1b[?1000h\x1b[?2004h",
	strings.Repeat("\x1b[", 5000), "\x1b[99999999999999999999m", "\x1b[1000000000b", "\x1b]" + strings.Repeat("x", 100000),
}

// A recording of hostile output, played in a browser, changes nothing but the screen: no title, clipboard, page or request comes of it.
func TestHostileRecordingInABrowser(t *testing.T) {
	w := newTerminalSite(t)
	x := terminal.Terminal{ID: "hostile", Tenant: app.DefaultTenant, Cluster: "shop-1", Node: "n1", User: "ada", Recorded: true, OpenedAt: w.clock.now(),
		Size: family.TerminalSize{Columns: 80, Rows: 24}}
	if err := w.store.AddTerminal(t.Context(), w.as("ada"), x); err != nil {
		t.Fatal(err)
	}
	var events strings.Builder
	line := func(e ...any) {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		events.Write(append(b, '\n'))
	}
	for i, s := range hostileOutput {
		line(float64(i)/100, "o", s+"\x1b\\\x18")
	}
	events.WriteString("[1,\"r\",\"99999x99999\"]\n[1,\"r\",\"9999x9999\"]\n[1,\"r\",{}]\n[1,\"i\",\"typed\"]\n[1,\"o\",null]\nnull\n[]\n{\"x\":\n")
	line(1.1, "r", "60x20")
	line(1.2, "o", "\x1bc\x1b[?1049lthe end\r\n")
	if err := w.store.AddChunk(t.Context(), terminal.Chunk{Terminal: x.ID, Events: []byte(events.String())}); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	inner := w.srv.Config.Handler
	w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || strings.Contains(r.URL.Path, "stream") {
			asked.Add(1)
		}
		inner.ServeHTTP(rw, r)
	})
	b := portaltest.Open(t, w.srv.URL)
	b.Open("/terminals/hostile")
	b.Do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), horse), chromedp.Submit(chromedp.ID("password")))
	b.Until(`location.pathname === "/terminals/hostile" && document.getElementById("play-go")`)
	before := asked.Load()
	b.Do(chromedp.Evaluate[chromedp.Void](`window.opened = 0; window.open = () => { window.opened++; return null };
		navigator.clipboard && (navigator.clipboard.writeText = () => { window.opened++; return Promise.resolve() })`))
	title := b.Eval(`document.title`)
	b.Until(`document.getElementById("play-go").textContent.trim() === "Play again"`)
	b.Do(chromedp.Click(chromedp.ID("play-go"))) // once more, with what is watched
	b.Until(`document.getElementById("play-go").textContent.trim() === "Play again"`)
	b.Until(`musterTerminal.buffer.active.getLine(0).translateToString(true).includes("the end") && musterTerminal.cols === 60`)
	b.Do(chromedp.Click(chromedp.CSS("#play-screen")))
	b.Keys("x")
	if got := b.Eval(`document.title + " " + window.opened + " " + location.pathname`); got != title+" 0 /terminals/hostile" {
		t.Errorf("the page is %q", got)
	}
	if n := asked.Load() - before; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	b.Size(390, 844)
	b.Until(`document.documentElement.scrollWidth <= 390`)
}
