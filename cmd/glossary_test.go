package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// plainWords are words of commands and API paths that mean what they mean everywhere, so docs/concepts.md doesn't define them. A new noun is
// added there, not here.
var plainWords = strings.Fields(`
	accept activity add answer apply approve bake bulk rule backfill cancel certify change check clone compare complete confirm create delete deny drain end explain export extend forget get grow
	import install leave lint list login logout migrate pause preview prove pull push recall register rekey remove rename repair replay resend reset resize restart restore resume
	retry revert revoke roll rotate save schedules serve set share shorten show shrink sleep solve stage start stop sync transfer try types unshare up upgrade use verify
	wait wake why withdraw run now
	answers approvals back backup between break cert certificate changes checks code config configuration completion content database defaults deliveries demo
	device diff doctor email end events family families files glass history inventory key left list logs man mode offers password partial profile provision quota
	queue queues ready remaining reviews rules schedule schema second factor server settings sharing size slack spec ssh status steps template test time token top
	offer usage version versions visibility workspaces zone require orphans muster compare down help hook types waiting facts fact health lease
	idle keep savings inherit off env kubeconfig reveal read connect cp forward proxy
`)

// oldTerms were words of Muster's own; what each is called now is beside it.
var oldTerms = map[string]string{
	"go-on": "accept-partial", "go_on": "accept_partial", "top-up": "backfill", "top_up": "backfill", "survivors": "partial_results", "at_least": "min_available",
	"at-least": "min-available", "amend": "update", "amendment": "update", "questions": "manual-steps", "notices": "notifications", "mend": "repair",
}

// The words of commands and of API paths are terms of the glossary, or plain words; and none is a word that was replaced.
func TestCommandsAndPathsUseTheGlossary(t *testing.T) {
	terms := glossary(t)
	if len(terms) < 40 {
		t.Fatalf("only %d terms in docs/concepts.md", len(terms))
	}
	known := func(word string) bool {
		return slices.Contains(plainWords, word) || slices.ContainsFunc(terms, func(term []string) bool { return slices.Contains(term, singular(word)) })
	}
	check := func(where, name string) {
		if now := oldTerms[name]; now != "" {
			t.Errorf("%s: %s is called %s", where, name, now)
		}
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
			if !known(word) {
				t.Errorf("%s: %q is neither a term of docs/concepts.md nor a plain word. Use a term, define the noun there, or add a word that needs no definition "+
					"to plainWords in cmd/glossary_test.go", where, word)
			}
		}
	}
	commands := regexp.MustCompile(`(?m)^## (muster .*)$`).FindAllStringSubmatch(read(t, "../docs/cli-reference.md"), -1)
	if len(commands) < 100 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, c := range commands {
		for _, name := range strings.Fields(c[1]) {
			check(c[1], name)
		}
	}
	paths := apiPaths(t)
	if len(paths) < 100 {
		t.Fatalf("only %d paths", len(paths))
	}
	for _, p := range paths {
		for _, name := range strings.Split(strings.Trim(p, "/"), "/") {
			if !strings.HasPrefix(name, "{") {
				check(p, name)
			}
		}
	}
}

// Titles of pages use today's terms too.
func TestPagesUseTheGlossary(t *testing.T) {
	heading := regexp.MustCompile(`(?s)<(h1|h2|h3|th|button|label)\b[^>]*>(.*?)</`)
	old := regexp.MustCompile(`(?i)\b(go on|top up|survivors?|amend(ment)?s?|questions?|notices?|mend|house|deeds?)\b`)
	seen := 0
	pages, err := filepath.Glob("../portal/*/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pages {
		for _, m := range heading.FindAllStringSubmatch(read(t, name), -1) {
			seen++
			if words := regexp.MustCompile(`(?s)\{.*?\}|<[^>]*>`).ReplaceAllString(m[2], " "); old.MatchString(words) {
				t.Errorf("%s: <%s>%s has a word that isn't a term of docs/concepts.md", name, m[1], strings.Join(strings.Fields(words), " "))
			}
		}
	}
	if seen < 100 {
		t.Fatalf("only %d headings", seen)
	}
}

// glossary returns the terms of docs/concepts.md, as lower-case words.
func glossary(t *testing.T) (terms [][]string) {
	for _, m := range regexp.MustCompile(`(?m)^\*\*(.+?)\.\*\*`).FindAllStringSubmatch(read(t, "../docs/concepts.md"), -1) {
		terms = append(terms, strings.Fields(strings.ToLower(m[1])))
	}
	return terms
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "s"):
		return strings.TrimSuffix(word, "s")
	}
	return word
}

func apiPaths(t *testing.T) (paths []string) {
	var doc struct {
		Paths map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(read(t, "../docs/openapi.json")), &doc); err != nil {
		t.Fatal(err)
	}
	for p := range doc.Paths {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
