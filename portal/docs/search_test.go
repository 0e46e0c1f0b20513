package docs

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestSearchRanks(t *testing.T) {
	b := embedded()
	for _, c := range []struct{ q, first string }{
		{"terminals", "/docs/terminals"},
		{"audit log", "/docs/secrets#audit-log"},
		{"muster cluster kubeconfig", "/docs/cli-reference#muster-cluster-kubeconfig"},
		{"orphaned machines", "/docs/runbooks#orphaned-machines"},
		{"VOLUMES snapshots", "/docs/volumes#snapshots"},
		{"try a policy", "/docs/policies#try-a-policy"},
	} {
		hits, _ := b.Search(c.q)
		if len(hits) == 0 || hits[0].Address() != c.first {
			t.Errorf("%q finds %v first, not %s", c.q, hits[:min(len(hits), 1)], c.first)
		}
	}
	for _, q := range []string{"", "   ", "zzzzq", "volumes zzzzq", strings.Repeat("zzzzq ", 1000)} {
		if hits, more := b.Search(q); len(hits) > 0 || more {
			t.Errorf("%.20q finds %d", q, len(hits))
		}
	}
	hits, more := b.Search("a")
	if len(hits) != hitsShown || !more {
		t.Errorf("a letter finds %d sections, more: %v", len(hits), more)
	}
	pages := map[*Page]int{}
	for _, h := range hits {
		if pages[h.Page]++; pages[h.Page] > hitsPerPage {
			t.Errorf("%s is found more often than %d times", h.Page.Title, hitsPerPage)
		}
		if n := len([]rune(strings.NewReplacer("[", "", "]", "").Replace(whole(h.Excerpt)))); n > excerptRunes+4 {
			t.Errorf("an excerpt has %d runes", n)
		}
	}
}

func whole(all []Piece) string {
	var b strings.Builder
	for _, x := range all {
		if x.Match {
			b.WriteString("[" + x.Text + "]")
		} else {
			b.WriteString(x.Text)
		}
	}
	return b.String()
}

func TestExcerpts(t *testing.T) {
	long := strings.Repeat("Wörter ", 40)
	for _, c := range []struct{ text, q, want string }{
		{"Sleep and Wake", "wake", "Sleep and [Wake]"},
		{"", "wake", ""},
		{"nothing here", "wake", "nothing here"},
		{"wakewake up", "wake wakewake", "[wakewake] up"},
		{"İstanbul wakes", "wake", "İstanbul [wake]s"},
		{long + "ends with wake.", "wake", "… Wörter Wörter Wörter Wörter Wörter ends with [wake]."},
		{strings.Repeat("x", 300) + "wake", "wake", "… [wake]"},
	} {
		if got := whole(excerpt(c.text, strings.Fields(fold(c.q)))); got != c.want {
			t.Errorf("%.30q for %q is %q, not %q", c.text, c.q, got, c.want)
		}
	}
}

// A title counts more than a heading, and that more than the text.
func TestSearchPrefersTitles(t *testing.T) {
	b, err := Load(fstest.MapFS{
		"README.md":  {Data: []byte("# Documentation\n\n## All\n\n| page |\n|---|\n| [t](text.md) |\n| [h](heading.md) |\n| [n](title.md) |\n")},
		"text.md":    {Data: []byte("# One\n\nsnow snow snow snow snow snow snow\n")},
		"heading.md": {Data: []byte("# Two\n\n## Snow\n\nfalls\n")},
		"title.md":   {Data: []byte("# Snow\n\nfalls\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	hits, _ := b.Search("snow")
	for _, h := range hits {
		got = append(got, h.Address())
	}
	if want := "/docs/title /docs/heading#snow /docs/text"; strings.Join(got, " ") != want {
		t.Errorf("found %s, not %s", got, want)
	}
}
