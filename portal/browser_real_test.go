//go:build real

package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"muster/app"
)

// browser is Chromium on one tab. Run these tests with -tags real; MUSTER_SCREENSHOTS names a folder for pictures of
// the pages, MUSTER_CHROMIUM the browser where it is not found by itself.
type browser struct {
	t   *testing.T
	ctx context.Context
	url string
}

func openBrowser(t *testing.T, url string) *browser {
	opts := []chromedp.ExecAllocatorOption{
		chromedp.Flag("headless", true), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.UserDataDir(t.TempDir()),
	}
	if path := os.Getenv("MUSTER_CHROMIUM"); path != "" {
		opts = append(opts, chromedp.ExecPath(path))
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	ctx, over := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(func() { over(); cancel(); stop() })
	b := &browser{t: t, ctx: ctx, url: url}
	b.size(1280, 900)
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) size(w, h int64) { b.t.Helper(); b.do(chromedp.EmulateViewport(w, h)) }

func (b *browser) scheme(dark bool) {
	b.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(path string) { b.t.Helper(); b.do(chromedp.Navigate(b.url + path)) }

func (b *browser) text(css string) string {
	b.t.Helper()
	q, _ := json.Marshal(css)
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(document.querySelector(`+string(q)+`)||{}).textContent||""`))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(strings.Fields(s), " ")
}

// until waits for an expression to become true.
func (b *browser) until(js string) {
	b.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("never became true: %s (%v)", js, err)
		}
		time.Sleep(40 * time.Millisecond)
	}
}

// shoot writes pictures of the page at both widths, light and dark, and checks that nothing is wider than the window.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("MUSTER_SCREENSHOTS")
	for _, width := range []int64{1280, 390} {
		height := int64(900)
		if width < 500 {
			height = 844
		}
		b.size(width, height)
		wide, err := chromedp.Run(b.ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
		if err != nil {
			b.t.Fatal(err)
		}
		if wide > width {
			b.t.Errorf("%s is %d px wide in a window of %d px", name, wide, width)
		}
		if dir == "" {
			continue
		}
		for _, dark := range []bool{false, true} {
			b.scheme(dark)
			png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err != nil {
				b.t.Fatal(err)
			}
			mode := "light"
			if dark {
				mode = "dark"
			}
			file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, mode))
			if err := os.WriteFile(file, png, 0o644); err != nil {
				b.t.Fatal(err)
			}
		}
		b.scheme(false)
	}
	b.size(1280, 900)
}

// TestBrowser is a person's story: sign in, look at a plan while typing, create, watch, see it fail and be resumed.
func TestBrowser(t *testing.T) {
	f := newFake(time.Now)
	p := New(Config{Muster: f, Version: "1.0.0", SandboxNote: "This is a sandbox: machines are namespaces on this host.", Logger: quiet()})
	srv := httptest.NewServer(p)
	t.Cleanup(func() { _ = p.Close(); srv.Close() })
	b := openBrowser(t, srv.URL)
	logged := chromedp.Events(b.ctx, cdplog.EntryAdded)
	thrown := chromedp.Events(b.ctx, runtime.ExceptionThrown)
	if _, err := chromedp.Call(b.ctx, cdplog.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	trouble := make(chan string, 100)
	listen, deaf := context.WithCancel(b.ctx)
	defer deaf()
	go func() {
		for e, err := range logged {
			if err != nil || listen.Err() != nil {
				return
			}
			// A sign-in that is refused, a preview that is refused and a stream that ends are part of the story.
			if e.Entry != nil && e.Entry.Level == "error" && e.Entry.Source != "network" {
				trouble <- e.Entry.Text
			}
		}
	}()
	go func() {
		for e, err := range thrown {
			if err != nil || listen.Err() != nil {
				return
			}
			trouble <- e.ExceptionDetails.Text
		}
	}()
	b.scheme(false)

	// Sign in, with a mistake first.
	b.open("/clusters/new?template=hadoop")
	b.do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "wrong"), chromedp.Submit(chromedp.ID("password")))
	b.until(`document.querySelector("#err-password").textContent.includes("do not fit")`)
	b.shoot("signin-refused")
	b.open("/signin")
	b.shoot("signin")
	b.open("/signin?next=%2Fclusters")
	b.do(chromedp.SendKeys(chromedp.ID("user"), "ada"), chromedp.SendKeys(chromedp.ID("password"), "correct horse"), chromedp.Submit(chromedp.ID("password")))
	b.until(`location.pathname=="/clusters"`)
	b.shoot("clusters-empty")

	// A preview that follows the typing.
	b.open("/clusters/new")
	b.do(chromedp.Click(chromedp.CSS(`input[value=hadoop]`)))
	b.until(`document.querySelector("#preview .timeline")`)
	b.do(chromedp.SendKeys(chromedp.ID("name"), "lake"))
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("size").select()`), chromedp.SendKeys(chromedp.ID("size"), "60"))
	b.until(`document.querySelector("#err-size").textContent.includes("60 nodes are not possible")`)
	if v := b.text("#preview"); !strings.Contains(v, "no layout to show") {
		t.Errorf("the preview of a size that cannot be says %q", v)
	}
	b.shoot("new-refused")
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("size").select()`), chromedp.SendKeys(chromedp.ID("size"), "5"))
	b.until(`document.querySelector("#preview .figures")&&document.querySelector("#err-size").textContent==""`)
	if focused, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.activeElement.id`)); focused != "size" {
		t.Errorf("the focus went to %q while typing", focused)
	}
	b.do(chromedp.Click(chromedp.CSS("#options summary")))
	b.shoot("new")

	// Create and watch.
	b.do(chromedp.Click(chromedp.CSS("#preview .primary")))
	b.until(`location.pathname=="/clusters/c01"`)
	b.until(`document.querySelector("#sentence").textContent.includes("0 of")`)
	f.advance("c01", 17)
	b.until(`document.querySelector("#sentence").textContent.includes("17 of")`)
	b.until(`document.querySelectorAll("#plan td .m-succeeded").length==17`)
	b.until(`document.querySelectorAll("#lines li").length>30`)
	b.until(`document.querySelector("#lines").scrollTop>0`)
	b.shoot("cluster-running")

	// A hidden page closes its stream; f sees it go.
	b.do(chromedp.Evaluate[chromedp.Void](`Object.defineProperty(document,"hidden",{value:true,configurable:true});document.dispatchEvent(new Event("visibilitychange"))`))
	eventually(t, func() bool { return f.watching("c01") == 0 })
	f.advance("c01", 3)
	b.do(chromedp.Evaluate[chromedp.Void](`delete document.hidden;document.dispatchEvent(new Event("visibilitychange"))`))
	b.until(`document.querySelector("#sentence").textContent.includes("20 of")`)

	// Fail, and resume.
	f.failStep("c01", "n3.datanode.start", "The script ended with 1.", "Starting datanode", "java.net.BindException: Address already in use", "datanode is not running")
	b.until(`document.querySelector(".failure")&&document.querySelector(".failure").textContent.includes("BindException")`)
	eventually(t, func() bool { return f.watching("c01") == 0 })
	b.shoot("cluster-failed")
	b.do(chromedp.Click(chromedp.ID("resume")))
	b.until(`document.querySelector("#head progress")`)
	for f.advance("c01", 8) {
	}
	b.until(`document.querySelector("#sentence").textContent.includes("as it was asked for")`)
	eventually(t, func() bool { return f.watching("c01") == 0 })
	b.shoot("cluster-active")

	// Many clusters, and a big one.
	for i, r := range []app.ClusterRequest{
		{Name: "shop-staging", LayoutRequest: app.LayoutRequest{Template: "web", Size: 4}},
		{Name: "orders-db", LayoutRequest: app.LayoutRequest{Template: "single", Size: 1}},
		{Name: "nightly-batch", LayoutRequest: app.LayoutRequest{Template: "hadoop", Size: 50}},
	} {
		v, err := f.CreateCluster(b.ctx, app.Actor{Tenant: "default", User: []string{"ada", "root", "ada"}[i], Role: app.RoleUser}, r)
		if err != nil {
			t.Fatal(err)
		}
		f.advance(v.ID, []int{9, 3, 240}[i])
	}
	f.failStep("c03", "n1.postgres.install", "The script ended with 100.")
	b.open("/clusters")
	b.shoot("clusters")
	b.open("/clusters/c04")
	b.shoot("cluster-big")
	b.open("/clusters/c01?node=n2#log")
	b.shoot("cluster-filtered")
	b.open("/clusters/c01/delete")
	b.shoot("delete")
	b.do(chromedp.Click(chromedp.CSS(".danger")))
	b.until(`location.pathname=="/clusters/c01"&&document.querySelector("h1").textContent.includes("deleting")`)
	f.advance("c01", 2)
	b.until(`document.querySelector("#sentence").textContent.includes("2 of 5")`)
	for f.advance("c01", 9) {
	}
	b.until(`document.querySelector("#sentence").textContent.includes("Gone")`)
	b.shoot("cluster-deleted")
	b.open("/clusters/new?template=hadoop&size=40")
	b.shoot("new-big")
	b.open("/clusters/nothing")
	b.shoot("missing")
	select {
	case s := <-trouble:
		t.Errorf("the browser complains: %s", s)
	default:
	}
}
