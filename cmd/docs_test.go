package cmd

import (
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docsIndex is the page from which all others of docs are reached.
const docsIndex = "docs/README.md"

// architecture is the page that shows the structure of the code.
const architecture = "docs/architecture.md"

var (
	linkInText    = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	imageInText   = regexp.MustCompile(`<(?:img|a)\s[^>]*?(?:src|href)="([^"]+)"`)
	codeInText    = regexp.MustCompile("`+[^`]*`+")
	headingOfText = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	anchorInText  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	notInAnchor   = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)

	// A page that is named in passing, as in "see docs/install.md", perhaps with the title of a section before it.
	pageInPassing = regexp.MustCompile(`(?:\\?"([^"\\\n]+)\\?" in )?\b(docs/[a-z0-9/-]+\.(?:md|json))`)
)

// A page is one Markdown file, by its path from the module's root.
type page struct {
	headings []string
	anchors  map[string]bool
	links    []link
}

type link struct {
	to   string // as it is written
	line int
}

// pages reads all Markdown that people are given.
func pages(t *testing.T) map[string]page {
	t.Helper()
	all := make(map[string]page)
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (strings.HasPrefix(name, ".") || slices.Contains(notOurs, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(p) == ".md" {
			all[p] = readPage(t, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// notOurs are folders of what is made, installed, or wrong on purpose.
var notOurs = []string{"bin", "node_modules", "testdata"}

func readPage(t *testing.T, p string) page {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, p))
	if err != nil {
		t.Fatal(err)
	}
	g := page{anchors: make(map[string]bool)}
	fence := ""
	for i, line := range strings.Split(string(b), "\n") {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(trimmed, "```") {
			fence = "```"
			continue
		}
		if m := headingOfText.FindStringSubmatch(line); m != nil {
			g.headings = append(g.headings, m[1])
			g.add(m[1])
		}
		for _, m := range anchorInText.FindAllStringSubmatch(line, -1) {
			g.anchors[m[1]] = true
		}
		plain := codeInText.ReplaceAllString(line, "code")
		for _, m := range append(linkInText.FindAllStringSubmatch(plain, -1), imageInText.FindAllStringSubmatch(plain, -1)...) {
			g.links = append(g.links, link{m[1], i + 1})
		}
	}
	return g
}

// add makes the anchor of a heading as GitHub does: small letters, no punctuation, dashes for spaces, and a number for what is there already.
func (g page) add(heading string) {
	text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	text = strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
	name := text
	for n := 1; g.anchors[name]; n++ {
		name = text + "-" + string(rune('0'+n))
	}
	g.anchors[name] = true
}

// target returns the file that a link leads to and the part of it after #. ok is false for what is not in this module.
func target(from, to string) (file, anchor string, ok bool) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "", "", false
	}
	if u.Path == "" {
		return from, u.Fragment, true
	}
	return path.Join(path.Dir(from), u.Path), u.Fragment, true
}

// No link from one file of ours to another is dead, nor is its anchor.
func TestLinksInDocsResolve(t *testing.T) {
	all := pages(t)
	seen, anchors := 0, 0
	for from, g := range all {
		for _, l := range g.links {
			file, anchor, ok := target(from, l.to)
			if !ok {
				continue
			}
			seen++
			if strings.HasPrefix(file, "../") {
				t.Errorf("%s:%d: %s leads out of the module", from, l.line, l.to)
				continue
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s:%d: %s leads nowhere", from, l.line, l.to)
				continue
			}
			if to, isPage := all[file]; anchor != "" && isPage {
				anchors++
				if !to.anchors[anchor] {
					t.Errorf("%s:%d: %s has no section #%s", from, l.line, file, anchor)
				}
			}
		}
	}
	if seen < 200 || anchors < 10 {
		t.Errorf("only %d links with %d anchors were found", seen, anchors)
	}
}

// Every page of docs is in the index, which the README leads to, or in the page of its folder: docs/providers.md, docs/decisions/README.md.
func TestEveryPageIsInTheIndex(t *testing.T) {
	all := pages(t)
	leads := func(from, to string) bool {
		return slices.ContainsFunc(all[from].links, func(l link) bool {
			file, _, ok := target(from, l.to)
			return ok && file == to
		})
	}
	if !leads("README.md", docsIndex) {
		t.Errorf("README.md does not lead to %s", docsIndex)
	}
	for p := range all {
		byFolder := slices.ContainsFunc([]string{path.Dir(p) + ".md", path.Join(path.Dir(p), "README.md")}, func(page string) bool {
			return leads(docsIndex, page) && leads(page, p)
		})
		if strings.HasPrefix(p, "docs/") && p != docsIndex && !leads(docsIndex, p) && !byFolder {
			t.Errorf("neither %s nor the page of its folder links to %s: add a row", docsIndex, p)
		}
	}
}

// What is released has all of docs with it. In the globs of GoReleaser docs/** is all below docs, and docs/**/* leaves out files directly in docs.
func TestReleasesHaveAllPages(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "\n      - docs/**\n") {
		t.Error("the archives of .goreleaser.yaml do not have docs/**")
	}
}

// What messages, comments, examples and files of deploy say of a page is so: it is there, and has the section that is named.
func TestPagesNamedInPassingExist(t *testing.T) {
	all := pages(t)
	seen, sections := 0, 0
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && name != ".ci" && strings.HasPrefix(name, ".") || slices.Contains(notOurs, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".sh", ".example", ".service", ".templ", ".json", ""}, path.Ext(p)) || p == "cmd/docs_test.go" {
			return nil
		}
		b, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(b), "\n") {
			for _, m := range pageInPassing.FindAllStringSubmatch(line, -1) {
				seen++
				if _, err := os.Stat(filepath.Join(root, m[2])); err != nil {
					t.Errorf("%s:%d: there is no %s", p, i+1, m[2])
				} else if m[1] != "" {
					sections++
					if !slices.Contains(all[m[2]].headings, m[1]) {
						t.Errorf("%s:%d: %s has no section %q", p, i+1, m[2], m[1])
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 || sections < 3 {
		t.Errorf("only %d pages and %d sections were found", seen, sections)
	}
}

var (
	// A file or folder of this module that a page names in backticks, and the names that may follow in parentheses: `app/cluster/create.go` (`weigh`).
	pathInCode  = regexp.MustCompile("`((?:" + strings.Join(slices.Sorted(maps.Keys(top)), "|") + ")/[A-Za-z0-9_./-]*[A-Za-z0-9_/-])`(?:\\s+\\(((?:`[^`]+`(?:,\\s+)?)+)\\))?")
	placeOfName = regexp.MustCompile("`(?:[a-z]+\\.)?([A-Z][A-Za-z]+)`\\s+in\\s+`([a-z][A-Za-z0-9_./-]*\\.go)`")
	nameInCode  = regexp.MustCompile("`(?:[A-Za-z]+\\.)?([A-Za-z_]+)`")
	pathInFence = regexp.MustCompile(`\bapp/[a-z/]+|\b(?:bot|jobs|portal|solver|cmd/muster)/[a-z/]+`)
)

// What pages name in backticks is there: folders, files, and what a file is said to hold. Pages that show the structure of the code hold to it
// in their diagrams, too.
func TestPathsInPagesExist(t *testing.T) {
	seen, held := 0, 0
	for p := range pages(t) {
		b, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		var fenced bool
		lines := strings.Split(string(b), "\n")
		for i, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			} else if fenced {
				for _, name := range pathInFence.FindAllString(line, -1) {
					if _, err := os.Stat(filepath.Join(root, name)); err != nil && (p == "README.md" || p == architecture) {
						t.Errorf("%s:%d: there is no %s", p, i+1, name)
					}
				}
				lines[i] = ""
			}
		}
		text := strings.Join(lines, "\n")
		for _, at := range pathInCode.FindAllStringSubmatchIndex(text, -1) {
			seen++
			line, file := strings.Count(text[:at[0]], "\n")+1, text[at[2]:at[3]]
			if strings.HasPrefix(file, "bin/") { // there only once it is built
				continue
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s:%d: there is no %s", p, line, file)
			} else if at[4] >= 0 && path.Ext(file) == ".go" {
				source, err := os.ReadFile(filepath.Join(root, file))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range nameInCode.FindAllStringSubmatch(text[at[4]:at[5]], -1) {
					held++
					if !regexp.MustCompile(`\b` + name[1] + `\b`).Match(source) {
						t.Errorf("%s:%d: there is no %s in %s", p, line, name[1], file)
					}
				}
			}
		}
		for _, m := range placeOfName.FindAllStringSubmatch(text, -1) {
			if source, err := os.ReadFile(filepath.Join(root, m[2])); err != nil || !regexp.MustCompile(`\b`+m[1]+`\b`).Match(source) {
				t.Errorf("%s: there is no %s in %s, a path from the root of the module", p, m[1], m[2])
			}
		}
	}
	if seen < 100 || held < 20 {
		t.Errorf("only %d paths and %d names in them were found", seen, held)
	}
}

// Each domain has its row in the page about the structure.
func TestArchitectureNamesEveryDomain(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, architecture))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range domains {
		if !strings.Contains(string(b), "| `"+d+"` |") {
			t.Errorf("%s has no row for %s", architecture, d)
		}
	}
}
