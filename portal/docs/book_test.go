package docs

import (
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"
)

// read are a page's IDs, links and elements.
type read struct {
	ids   map[string]bool
	links []string
	names map[string]int
}

func readHTML(t *testing.T, p *Page) read {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(p.HTML()))
	if err != nil {
		t.Fatal(err)
	}
	r := read{ids: map[string]bool{}, names: map[string]int{}}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		r.names[n.Data]++
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				if r.ids[a.Val] {
					t.Errorf("%s has ID %s twice", p.file, a.Val)
				}
				r.ids[a.Val] = true
			case "href":
				r.links = append(r.links, a.Val)
			case "style", "src", "onclick":
				t.Errorf("%s has attribute %s=%q", p.file, a.Key, a.Val)
			}
		}
	}
	return r
}

// No link of any page leads nowhere, nor does its anchor.
func TestLinksLeadSomewhere(t *testing.T) {
	b := embedded()
	all := map[string]read{}
	for _, p := range b.pages {
		all[p.Address()] = readHTML(t, p)
	}
	within, parts := 0, 0
	for at, r := range all {
		for _, to := range r.links {
			if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") || to == elsewhere["openapi.json"] {
				continue
			}
			file, part, _ := strings.Cut(to, "#")
			if file == "" {
				file = at
			}
			there, ok := all[file]
			switch {
			case !ok:
				t.Errorf("%s links to %s, which isn't a page", at, to)
			case part != "" && !there.ids[part]:
				t.Errorf("%s links to %s, which has no such section", at, to)
			}
			within++
			if part != "" && file != at {
				parts++
			}
		}
	}
	if len(all) < 70 || within < 500 || parts < 50 {
		t.Errorf("only %d pages with %d links, of which %d to sections, were found", len(all), within, parts)
	}
}

// Pages consist of what their Markdown says, without pictures and HTML.
func TestPagesAreRendered(t *testing.T) {
	b := embedded()
	for _, p := range b.pages {
		r := readHTML(t, p)
		if r.names["h1"] != 1 || p.Title == "" || p.Sections()[0].Heading != strings.ReplaceAll(p.Title, "`", "") {
			t.Errorf("%s is titled %q, with %d headings of the first level", p.file, p.Title, r.names["h1"])
		}
		for _, name := range []string{"img", "script", "style", "iframe", "form", "input"} {
			if r.names[name] > 0 {
				t.Errorf("%s has <%s>", p.file, name)
			}
		}
		if strings.Contains(p.HTML(), "<!--") {
			t.Errorf("%s has a comment", p.file)
		}
	}
	for name, has := range map[string]string{
		"terminals":             "<kbd>Ctrl</kbd>",
		"providers/aws":         `<span id="security-groups"></span>`,
		"outputs":               "<pre id=\"code-1\"",
		"cli-reference":         `<h2 id="muster-cluster-kubeconfig">`,
		"decisions":             `href="/docs/decisions/001-sqlite-and-postgresql"`,
		"start/cluster":         `href="/docs/`,
		"provider-values":       "<table>",
		"automators/executable": "<code>",
	} {
		if p, ok := b.Page(name); !ok || !strings.Contains(p.HTML(), has) {
			t.Errorf("page %s lacks %s", name, has)
		}
	}
	for _, name := range []string{"README", "screenshots", "../README", "nosuch", "terminals.md", "decisions/README"} {
		if _, ok := b.Page(name); ok {
			t.Errorf("there is a page %s", name)
		}
	}
}

// What Markdown could bring into a page is harmless.
func TestMarkdownIsBounded(t *testing.T) {
	b, err := Load(fstest.MapFS{
		"README.md": {Data: []byte("# Documentation\n\n## Use\n\n| page | contents |\n|---|---|\n| [a.md](a.md), [x](gone.md) | [b](sub/b.md) |\n")},
		"a.md": {Data: []byte("# A & B\n\n<script>alert(1)</script>\n\nText <b onclick=\"x()\">bold</b> [js](javascript:alert(1)) ![pic](x.png) " +
			"[code](../main.go#L1) " +
			"[b](sub/b.md#two-words) [spec](openapi.json) [out](https://example.org/?a=1&b=2) [up](README.md)\n\n" +
			"## Two *words*\n\n## Two `words`\n\n    <i>code</i>\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n")},
		"sub/b.md": {Data: []byte("# B\n\n## Two words\n\n[a](../a.md) [self](#two-words)\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Groups) != 2 || len(b.Groups[0].Pages) != 0 || len(b.Groups[1].Pages) != 1 ||
		b.Groups[1].Name != "Use" || b.Groups[1].Pages[0].Address() != "/docs/a" {
		t.Errorf("the contents are %+v", b.Groups)
	}
	p, _ := b.Page("a")
	text := p.HTML()
	for _, has := range []string{
		"<h1 id=\"a--b\">A &amp; B</h1>", "Text bold js  code <a href=\"/docs/sub/b#two-words\">b</a>", `<a href="/api/v1/openapi.json">spec</a>`,
		`<a href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer" target="_blank">out</a>`, `<a href="/docs">up</a>`,
		`<h2 id="two-words">`, `<h2 id="two-words-1">Two <code>words</code>`, `href="#two-words-1"`, "&lt;i&gt;code&lt;/i&gt;", `data-copy="code-1"`, `align="right"`,
	} {
		if !strings.Contains(text, has) {
			t.Errorf("the page lacks %s:\n%s", has, text)
		}
	}
	for _, lacks := range []string{"script", "onclick", "javascript", "<img", "pic", "style"} {
		if strings.Contains(text, lacks) {
			t.Errorf("the page has %s:\n%s", lacks, text)
		}
	}
	first, _ := b.Page("")
	if !strings.Contains(first.HTML(), `<a href="/docs/a">A &amp; B</a>, x`) {
		t.Errorf("a file's name isn't replaced by the title of its page:\n%s", first.HTML())
	}
	if sub, _ := b.Page("sub/b"); b.Listed(sub) != nil || b.Listed(p) != p || !strings.Contains(sub.HTML(), `<a href="/docs/a">a</a>`) {
		t.Errorf("the page in a folder is wrong:\n%s", sub.HTML())
	}
}

// Each page is in the list, or below one that is.
func TestEachPageIsListed(t *testing.T) {
	b := embedded()
	for _, p := range b.pages {
		if p.file != index && b.Listed(p) == nil {
			t.Errorf("%s is missing from docs/README.md", p.file)
		}
	}
	if aws, _ := b.Page("providers/aws"); b.Listed(aws).Address() != "/docs/providers" {
		t.Errorf("a provider's page is listed as %s", b.Listed(aws).Address())
	}
}
