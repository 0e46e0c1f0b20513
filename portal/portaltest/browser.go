//go:build real

package portaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Browser is Chromium on one tab. MUSTER_SCREENSHOTS names a folder for pictures of the pages, MUSTER_CHROMIUM the browser
// where it is not found by itself.
type Browser struct {
	t   testing.TB
	Ctx context.Context // of the tab
	url string
}

// Open starts Chromium for the site at url. It ends with the test, or after a quarter of an hour; a browser that does not start fails the test.
func Open(t testing.TB, url string) *Browser { t.Helper(); return OpenFor(t, url, 15*time.Minute) }

// OpenFor is Open for a test that takes longer than others: the browser ends after limit.
func OpenFor(t testing.TB, url string, limit time.Duration) *Browser {
	t.Helper()
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
	ctx, over := context.WithTimeout(ctx, limit)
	t.Cleanup(func() { over(); cancel(); stop() })
	b := &Browser{t: t, Ctx: ctx, url: url}
	b.Size(1280, 900)
	return b
}

// Another is someone else in the same Chromium: a tab of a browser context of its own, which shares no cookie with the first. It ends with it.
func (b *Browser) Another() *Browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.Ctx, chromedp.WithNewBrowserContext())
	b.t.Cleanup(cancel)
	other := &Browser{t: b.t, Ctx: ctx, url: b.url}
	other.Size(1280, 900)
	return other
}

// Type puts a text in the place of what stands in the field of an id, key by key.
func (b *Browser) Type(id, text string) {
	b.t.Helper()
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById(`+quote(id)+`).select()`), chromedp.SendKeys(chromedp.ID(id), text))
}

// Keys presses the keys of a text one after another, as a keyboard does: where a page keeps what a key does from happening, nothing comes
// of its letter either. chromedp's own keys send the letter all the same.
func (b *Browser) Keys(text string) {
	b.t.Helper()
	b.Do(chromedp.KeyEvent(text, func(k *input.DispatchKeyEventParams) {
		if k.Type == kb.KeyDown {
			k.Type = kb.KeyRawDown
		}
	}))
}

// Tab presses Tab until what css finds has the focus, as someone does who has no mouse. It fails where that cannot be reached, and where on
// the way the focus is on nothing that can be seen.
func (b *Browser) Tab(css string) {
	b.t.Helper()
	for range 150 {
		b.Keys("\t")
		at := b.Eval(`(e => {
			if (!e || e === document.body) return "lost";
			if (e.matches(` + quote(css) + `)) e.dataset.reached = "yes"; else delete e.dataset.reached;
			const box = e.closest("label") || e, seen = [e, box].some((x) => {
				const s = getComputedStyle(x), r = x.getBoundingClientRect();
				return r.width > 0 && r.height > 0 && (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none");
			});
			return (e.dataset.reached ? "there " : "on the way ") + (seen ? "seen " : "unseen ") + e.outerHTML.slice(0, 160);
		})(document.activeElement)`)
		if strings.Contains(at, " unseen ") && !strings.HasPrefix(at, "on the way unseen <html") {
			b.t.Errorf("the focus cannot be seen: %s", at)
		}
		if strings.HasPrefix(at, "there ") {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %s", css)
}

// Value returns what is typed or chosen in the field of an id.
func (b *Browser) Value(id string) string {
	b.t.Helper()
	return b.Eval(`document.getElementById(` + quote(id) + `).value`)
}

// Focused returns the id of the element that has the focus, "" where it has none.
func (b *Browser) Focused() string { b.t.Helper(); return b.Eval(`document.activeElement.id`) }

// Eval returns what an expression comes to, which must be a text.
func (b *Browser) Eval(js string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](js))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return s
}

// Do runs actions one after another. Where a live page replaces an element between being found and being used, the action starts over: the
// browser refuses it before anything has happened.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, a := range actions {
		for try := 0; ; try++ {
			err := chromedp.Do(b.Ctx, a)
			if err == nil {
				break
			}
			var refused *cdproto.Error
			if try == 20 || !errors.As(err, &refused) || refused.Code != -32000 || !strings.Contains(refused.Message, "find node with given id") {
				b.t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// Size sets the window, in pixels.
func (b *Browser) Size(w, h int64) { b.t.Helper(); b.Do(chromedp.EmulateViewport(w, h)) }

// Scheme chooses dark or light.
func (b *Browser) Scheme(dark bool) {
	b.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	if _, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// Zone sets the time zone of the reader, such as Asia/Kolkata.
func (b *Browser) Zone(name string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.Ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name}); err != nil {
		b.t.Fatal(err)
	}
}

// Open goes to a path of the site.
func (b *Browser) Open(path string) {
	b.t.Helper()
	for try := 0; ; try++ {
		err := chromedp.Do(b.Ctx, chromedp.Navigate(b.url+path))
		if err == nil {
			return
		}
		// What the page before it was about to open came between.
		if try == 5 || !strings.Contains(err.Error(), "net::ERR_ABORTED") {
			b.t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// Text returns what stands in the first element that css finds, with single spaces; "" where there is none.
func (b *Browser) Text(css string) string {
	b.t.Helper()
	q, _ := json.Marshal(css)
	s, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`(document.querySelector(`+string(q)+`)||{}).textContent||""`))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(strings.Fields(s), " ")
}

// Until waits for an expression to become true on a page that is there as a whole. It waits long, since machines that test have much to do.
func (b *Browser) Until(js string) {
	b.t.Helper()
	end := time.Now().Add(5 * time.Minute)
	for {
		ok, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool](`document.readyState!="loading" && !!(`+js+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("never became true: %s (%v)", js, err)
		}
		time.Sleep(40 * time.Millisecond)
	}
}

// Shoot writes pictures of the page at both widths, light and dark, and checks that nothing is wider than the window, and that axe-core
// finds nothing that keeps people from using it.
func (b *Browser) Shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("MUSTER_SCREENSHOTS")
	for _, width := range []int64{1280, 390} {
		height := int64(900)
		if width < 500 {
			height = 844
		}
		b.Size(width, height)
		wide, err := chromedp.Run(b.Ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
		if err != nil {
			b.t.Fatal(err)
		}
		if wide > width {
			b.t.Errorf("%s is %d px wide in a window of %d px", name, wide, width)
		}
		b.checkPictures(fmt.Sprintf("%s, %d px", name, width))
		for _, dark := range []bool{false, true} {
			looked := (width < 500) == dark // each width once, each scheme once
			if !looked && dir == "" {
				continue
			}
			b.Scheme(dark)
			if looked {
				b.checkAccess(fmt.Sprintf("%s, %d px, dark %t", name, width, dark))
			}
			if dir == "" {
				continue
			}
			png, err := chromedp.Run(b.Ctx, chromedp.FullScreenshot(100))
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
	}
	b.Scheme(false)
	b.Size(1280, 900)
}

// checkPictures finds drawings of which a part can't be seen, not even by scrolling, and those that became too small to read.
func (b *Browser) checkPictures(name string) {
	b.t.Helper()
	if cut := b.Eval(`Array.from(document.querySelectorAll("svg[viewBox]")).flatMap(s => {
		const at = s.getBoundingClientRect(), view = s.viewBox.baseVal, box = s.getBBox(), told = [];
		if (!at.width || !at.height || s.closest("[hidden]")) return [];
		const what = s.closest("[aria-label]")?.getAttribute("aria-label") || s.getAttribute("class") || s.outerHTML.slice(0, 60);
		if (getComputedStyle(s).overflowX != "visible" && (box.x + box.width > view.x + view.width + 1 || box.y + box.height > view.y + view.height + 1))
			told.push(what + ": drawn up to " + [box.x + box.width, box.y + box.height] + " of " + [view.width, view.height]);
		if (s.querySelector("text")) {
			const small = Math.min(...Array.from(s.querySelectorAll("text"), t => parseFloat(getComputedStyle(t).fontSize))) * at.width / view.width;
			if (small < 8) told.push(what + ": letters of " + small.toFixed(1) + " px");
		}
		for (let p = s.parentElement, left = at.left, right = at.right; p; p = p.parentElement) {
			const o = getComputedStyle(p).overflowX, r = p.getBoundingClientRect();
			if (o == "visible") continue;
			if (o == "auto" || o == "scroll") {
				if (right - r.left + p.scrollLeft > p.scrollWidth + 1 || left - r.left + p.scrollLeft < -1) told.push(what + ": out of reach");
				break;
			}
			if (right > r.right + 1 || left < r.left - 1) { told.push(what + ": cut by " + p.tagName + "." + p.className); break; }
		}
		return told;
	}).join("; ")`); cut != "" {
		b.t.Errorf("%s: %s", name, cut)
	}
}
