package demodata

import (
	"bytes"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/net/html"
)

// raw is what a page shows where a value was printed as a program keeps it: durations in nanoseconds or as Go writes them, and what Go
// prints of what isn't there.
var raw = regexp.MustCompile(`\b[0-9]{10,}\b|\b\d+(h|m)\d+(\.\d+)?(m|s)\b|\b0s\b|<nil>|%!|map\[|&\{|\b0001-01-01\b`)

// Pages show values as people write them, and no directories of the server: to admins the place in the catalog, to others not even that.
func TestPagesShowNothingRaw(t *testing.T) {
	h, site := served(t)
	pages, err := h.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, Page{"", "/templates/web-shop?from=1&to=2"}, Page{"", "/clusters/new?template=web-shop&size=1"}, Page{"", "/clusters/new?template=web-shop&size=1000"})
	places, seen := 0, 0
	theirs := regexp.MustCompile(`(runs/|"(run_)?id": )\d+`) // GitHub's numbers
	file := regexp.MustCompile(`[\w./-]*\.yaml:\d+`)
	for _, who := range []string{Operator, Admin, user} {
		v, err := site.SignIn(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			if p.Pattern == "/signout" {
				continue
			}
			f, err := v.Get(t.Context(), p.Address)
			if err != nil {
				t.Fatal(err)
			}
			if f.Status != http.StatusOK {
				continue
			}
			seen++
			for _, text := range shown(t, f.Body) {
				if found := raw.FindString(theirs.ReplaceAllString(text, "")); found != "" {
					t.Errorf("%s shows %s %q: %.200s", p.Address, who, found, text)
				}
				for _, dir := range []string{catalogDir, filepath.Dir(h.where)} {
					if bytes.Contains([]byte(text), []byte(dir)) {
						t.Errorf("%s shows %s a directory of the server: %.200s", p.Address, who, text)
					}
				}
				for _, place := range file.FindAllString(text, -1) {
					places++
					if who == user || filepath.IsAbs(place) {
						t.Errorf("%s shows %s where it is written: %s", p.Address, who, place)
					}
				}
			}
		}
	}
	if places == 0 || seen < 150 {
		t.Errorf("%d pages with %d places of the catalog were looked at", seen, places)
	}
}

// shown are the texts of a page that people see or hear.
func shown(t *testing.T, body []byte) (all []string) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.TextNode:
			if parent := n.Parent.Data; parent != "script" && parent != "style" {
				all = append(all, n.Data)
			}
		case html.ElementNode:
			hidden := slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "type" && a.Val == "hidden" })
			for _, a := range n.Attr {
				if slices.Contains([]string{"title", "aria-label", "alt", "placeholder"}, a.Key) || a.Key == "value" && n.Data == "input" && !hidden {
					all = append(all, a.Val)
				}
			}
		}
	}
	return all
}
