//go:build real

package portaltest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Browser is Chromium on one tab. MUSTER_SCREENSHOTS names a folder for pictures of the pages, MUSTER_CHROMIUM the browser
// where it is not found by itself.
type Browser struct {
	t   testing.TB
	Ctx context.Context // of the tab
	url string
}

// Open starts Chromium for the site at url. It ends with the test; a browser that does not start fails the test.
func Open(t testing.TB, url string) *Browser {
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
	b := &Browser{t: t, Ctx: ctx, url: url}
	b.Size(1280, 900)
	return b
}

// Do runs actions.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.Ctx, actions...); err != nil {
		b.t.Fatal(err)
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

// Open goes to a path of the site.
func (b *Browser) Open(path string) { b.t.Helper(); b.Do(chromedp.Navigate(b.url + path)) }

// Text gives what stands in the first element that css finds, with single spaces; "" where there is none.
func (b *Browser) Text(css string) string {
	b.t.Helper()
	q, _ := json.Marshal(css)
	s, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`(document.querySelector(`+string(q)+`)||{}).textContent||""`))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(strings.Fields(s), " ")
}

// Until waits for an expression to become true.
func (b *Browser) Until(js string) {
	b.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		ok, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool]("!!("+js+")"))
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
		for _, dark := range []bool{false, true} {
			b.Scheme(dark)
			if (width < 500) == dark { // each width once, each scheme once
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
		b.Scheme(false)
	}
	b.Size(1280, 900)
}
