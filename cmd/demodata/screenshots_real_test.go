//go:build real

package demodata

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"muster/portal/portaltest"
)

var screenshots = flag.String("screenshots", "", "write pictures of all pages into this `folder`, and the page that shows them beside it")

var only = flag.String("only", "", "pictures of those pages only whose names match this `pattern`; others stay as they are")

// How large pictures are, in pixels.
const (
	tallest = 1800
	wide    = 1280
	narrow  = 390
	maxSize = 12 << 20 // of all, in bytes
)

// shot is a page with pictures.
type shot struct{ name, address, title, group string }

// few are tried where no folder is given.
var few = []string{"cluster-active", "clusters", "failed-machine-lost", "home"}

// asUser are those that say most to someone who has clusters; the others are seen by who may see all.
var asUser = []string{"home", "account", "account-tokens-new", "templates", "templates-template", "clusters-new", "new-cluster-filled", "notices"}

// nightly are those that there is a picture by night of.
var nightly = []string{"clusters", "clusters-id", "usage", "home"}

func groupOf(pattern string) string {
	switch {
	case slices.ContainsFunc([]string{"/admin/tenants", "/provisioners", "/orphans", "/operator", "/settings"}, func(p string) bool { return strings.HasPrefix(pattern, p) }):
		return "Operator"
	case strings.HasPrefix(pattern, "/admin"), strings.HasPrefix(pattern, "/queue"), strings.HasPrefix(pattern, "/catalog"):
		return "Admin"
	}
	return "User"
}

// TestScreenshots writes docs/screenshots and docs/screenshots.md: see `make screenshots`. The instance and its clock are the same each time,
// so a picture differs only where a page does. Without a folder to write to it tries a few of them.
func TestScreenshots(t *testing.T) {
	where, all := *screenshots, true
	if where == "" {
		where, all = filepath.Join(t.TempDir(), "screenshots"), false
	}
	h, site := served(t)
	pages, err := h.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known, err := h.known(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var shots []shot
	for _, p := range pages {
		name := strings.Trim(strings.NewReplacer("{", "", "}", "", "/", "-", ":", "-", "|", "-").Replace(p.Pattern), "-")
		if name == "" {
			name = "home"
		}
		shots = append(shots, shot{name, p.Address, "", groupOf(p.Pattern)})
	}
	for name, address := range map[string]string{"cluster-active": "/clusters/" + known["id"], "failed-create": "/clusters/" + known["/clusters/{id}/accept-partial id"], "failed-machine-lost": "/clusters/" + known["gift-cards"], "machine-lost": "/clusters/" + known["wishlist"],
		"failed-reconfigure": "/clusters/" + known["search-tuning"],
		"cluster-deleted":    "/clusters/" + known["/clusters/{id}/receipt id"], "new-cluster-filled": "/clusters/new?template=web-shop&options_of=web-shop&name=winter-sale-2&size=12&services=balancer&services=shop&services=orders&services=cache",
		"change-upgrade": "/clusters/" + known["id"] + "/change?kind=upgrade"} {
		shots = append(shots, shot{name, address, "", "User"})
	}
	if !all {
		shots = slices.DeleteFunc(shots, func(s shot) bool { return !slices.Contains(few, s.name) })
	}
	slices.SortFunc(shots, func(a, b shot) int { return strings.Compare(a.name, b.name) })
	if *only != "" {
		some := regexp.MustCompile(*only)
		shots, all = slices.DeleteFunc(shots, func(s shot) bool { return !some.MatchString(s.name) }), false
	} else if old, err := filepath.Glob(filepath.Join(where, "*.png")); err == nil { // folders in it, of pages as they were, stay
		for _, name := range old {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(where, 0o755); err != nil {
		t.Fatal(err)
	}
	total := 0
	write := func(name string, b []byte) {
		total += len(b)
		if err := os.WriteFile(filepath.Join(where, name+".png"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var done []shot
	slices.SortStableFunc(shots, func(a, b shot) int {
		x, y := slices.Contains(asUser, a.name), slices.Contains(asUser, b.name)
		switch {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return 0
	})
	parts := [][]shot{shots}
	if i := slices.IndexFunc(shots, func(s shot) bool { return !slices.Contains(asUser, s.name) }); i >= 0 {
		parts[0] = shots[:i]
		parts = slices.AppendSeq(parts, slices.Chunk(shots[i:], 20)) // a browser has only so much time
	}
	for i, part := range parts {
		who := Operator
		if i == 0 {
			who = user
		}
		t.Run("", func(t *testing.T) {
			b := portaltest.Open(t, site.URL)
			b.Scheme(false)
			if done == nil {
				b.Open("/signin")
				for _, width := range []int64{wide, narrow} {
					b.Size(width, 800)
					write(fmt.Sprintf("signin-%d", width), b.Picture(tallest))
				}
				b.Size(wide, 900)
				done = append(done, shot{"signin", "/signin", "Sign in", "User"})
			}
			b.Open("/signin?next=%2Fclusters")
			b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details") && (document.querySelector("details").open = true)`))
			b.Do(chromedp.SendKeys(chromedp.ID("user"), who), chromedp.SendKeys(chromedp.ID("password"), password), chromedp.Submit(chromedp.ID("password")))
			b.Until(`location.pathname=="/clusters"`)
			for _, s := range part {
				b.Size(wide, 900)
				b.Open(s.address)
				path, _, _ := strings.Cut(s.address, "?")
				here, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`location.pathname`))
				if err != nil {
					t.Fatal(err)
				}
				if here != path || b.Text(".problem .big") != "" {
					continue // it leads elsewhere, or there is nothing of it
				}
				s.title = strings.TrimSuffix(b.Text("title"), " · Muster")
				for _, width := range []int64{wide, narrow} {
					b.Size(width, 844)
					write(fmt.Sprintf("%s-%d", s.name, width), b.Picture(tallest))
				}
				if slices.Contains(nightly, s.name) {
					b.Scheme(true)
					b.Size(wide, 900)
					write(s.name+"-dark", b.Picture(tallest))
					b.Scheme(false)
				}
				done = append(done, s)
			}
		})
	}
	if *only != "" {
		return // the page that shows all of them stays as it is
	}
	if !all && len(done) != 1+len(few) {
		t.Errorf("there are pictures of %d pages, not of signing in and %v", len(done), few)
	}
	if total > maxSize {
		t.Errorf("all pictures are %d KB; let there be fewer, or lower ones", total>>10)
	}
	slices.SortStableFunc(done[1:], func(a, b shot) int { return strings.Compare(a.name, b.name) })
	var text strings.Builder
	text.WriteString("# Pages\n\nEvery page of the portal, on a screen and on a phone, with a month of a company's work on it. `make screenshots` recreates them.\n")
	for _, group := range []string{"User", "Admin", "Operator"} {
		fmt.Fprintf(&text, "\n## %s\n", group)
		for _, s := range done {
			if s.group != group {
				continue
			}
			address, _, _ := strings.Cut(s.address, "?")
			fmt.Fprintf(&text, "\n### %s\n\n`%s`\n\n<img src=\"screenshots/%s-%d.png\" width=\"640\" alt=\"%s, on a screen\"> <img src=\"screenshots/%s-%d.png\" width=\"195\" alt=\"%s, on a phone\">\n",
				s.title, address, s.name, wide, s.title, s.name, narrow, s.title)
			if slices.Contains(nightly, s.name) {
				fmt.Fprintf(&text, "\n<img src=\"screenshots/%s-dark.png\" width=\"640\" alt=\"%s, by night\">\n", s.name, s.title)
			}
		}
	}
	if err := os.WriteFile(strings.TrimRight(where, "/")+".md", []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages, %d KB", len(done), total>>10)
}
