package cli

import (
	"html"
	"io"
	"strings"
	"sync"

	xhtml "golang.org/x/net/html"
)

// Readable returns a page's text as lines, with the cells of a row separated by spaces.
func Readable(page string) []string {
	z := xhtml.NewTokenizer(strings.NewReader(page))
	var lines []string
	var line strings.Builder
	hidden := ""
	flush := func() {
		if text := strings.TrimRight(line.String(), " "); strings.TrimSpace(text) != "" {
			lines = append(lines, text)
		}
		line.Reset()
	}
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			flush()
			return lines
		case xhtml.TextToken:
			if text := strings.Join(strings.Fields(html.UnescapeString(string(z.Text()))), " "); text != "" && hidden == "" {
				line.WriteString(text + " ")
			}
		case xhtml.StartTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "style", "script", "title":
				hidden = string(name)
			case "h1", "p", "tr", "table", "div", "li":
				flush()
			}
		case xhtml.EndTagToken:
			switch name, _ := z.TagName(); string(name) {
			case hidden:
				hidden = ""
			case "td", "th":
				if pad := 22 - line.Len()%22; line.Len() > 0 {
					line.WriteString(strings.Repeat(" ", pad))
				}
			case "h1", "p", "tr":
				flush()
			}
		}
	}
}

// LockedWriter lets several goroutines write to one writer.
type LockedWriter struct {
	mu sync.Mutex
	W  io.Writer
}

func (l *LockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.W.Write(p)
}
