package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Words that made Muster's English read like a translation, and what to write instead. Left is how many lines still have one: it only goes
// down. Tests, comments and names in code count too, since people read them; what is left are mostly names.
var oddWords = []struct {
	words, instead string
	left           int
}{
	{"gives", "returns, shows, has", 5},
	{"somebody|nobody|everybody", "someone, no one, everyone; better: say who", 22},
	{"anew", "again", 0},
	{"for ever", "forever, or: never expires", 1},
	{"what becomes of|what became of", "what happens to", 0},
	{"told", "notified, reported, shown, said", 47},
	{"stands|stood", "is, exists, runs", 89},
	{"put right|puts right|putting right|put it right|put them right|put things right", "fix, correct", 0},
	{"mend|mends|mended|mending", "repair, fix", 3},
	{"lately", "recently", 0},
	{"whoever", "anyone who", 0},
	{"about less than", "less than", 0},
	{"nothing is known", "unknown", 0},
	{"look after|looks after|looked after", "manage, operate", 0},
	{"go on|goes on|went on|going on", "continue, resume", 7},
	{"that there are|that are there", "available; or leave it out", 2},
	{"in the way", "blocks, prevents", 1},
	{"under way", "in progress, running", 0},
	{"shall", "must, should, will", 0},
	{"length of time|lengths of time", "duration", 0},
}

// fine are lines that have such a word for a reason.
var fine = []string{"gives up", "/told"}

// peopleWrite are the kinds of files that people write.
var peopleWrite = []string{".go", ".templ", ".md", ".yaml", ".yml", ".js", ".css", ".txtar", ".sh"}

// TestPlainEnglish keeps words out that are right in grammar and wrong in ear. An applied migration can't change, so those are left out.
func TestPlainEnglish(t *testing.T) {
	count, places := make([]int, len(oddWords)), make([][]string, len(oddWords))
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") && name != ".ci" || slices.Contains([]string{"bin", "node_modules", "migrations"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(peopleWrite, filepath.Ext(name)) || strings.HasSuffix(name, "_templ.go") || strings.HasPrefix(name, "xterm") || name == "words_test.go" && filepath.Dir(path) == filepath.Join(root, "cmd") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.ToLower(string(data))
		for i, o := range oddWords {
			for _, line := range linesWith(text, strings.Split(o.words, "|")) {
				count[i]++
				if len(places[i]) < 20 {
					places[i] = append(places[i], fmt.Sprintf("%s:%d", path, line))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range oddWords {
		switch {
		case count[i] > o.left:
			t.Errorf("%d lines have %q, and at most %d may. Write instead: %s. Such lines are\n\t%s", count[i], o.words, o.left, o.instead, strings.Join(places[i], "\n\t"))
		case count[i] < o.left:
			t.Errorf("%d lines have %q, fewer than the %d that this test allows. Lower it here.", count[i], o.words, o.left)
		}
	}
}

// linesWith returns the numbers of the lines that have one of some words, as a whole word.
func linesWith(text string, words []string) (lines []int) {
	for _, w := range words {
		for at := 0; ; {
			i := strings.Index(text[at:], w)
			if i < 0 {
				break
			}
			begin := at + i
			at = begin + len(w)
			before, _ := utf8.DecodeLastRuneInString(text[:begin])
			after, _ := utf8.DecodeRuneInString(text[at:])
			if inWord(before) || inWord(after) {
				continue
			}
			first := strings.LastIndexByte(text[:begin], '\n') + 1
			line, _, _ := strings.Cut(text[first:], "\n")
			n := strings.Count(text[:begin], "\n") + 1
			if !slices.ContainsFunc(fine, func(f string) bool { return strings.Contains(line, f) }) && !slices.Contains(lines, n) {
				lines = append(lines, n)
			}
		}
	}
	return lines
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func TestLinesWith(t *testing.T) {
	text := "it gives\ngives up, it gives\nforgives gives_x\nthe way\nin the way, in the way"
	if got := linesWith(text, []string{"gives", "in the way"}); !slices.Equal(got, []int{1, 5}) {
		t.Errorf("found in lines %v", got)
	}
}
