package docs

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a search.
const (
	queryRunes   = 100
	queryWords   = 8
	hitsShown    = 20
	hitsPerPage  = 3
	excerptRunes = 220
)

// Hit is a section that a search found.
type Hit struct {
	Page    *Page
	Section Section
	Excerpt []Piece
	score   int
}

// Address is the section's address. A page's first section is the page.
func (h Hit) Address() string {
	if h.Section.Level == 1 {
		return h.Page.Address()
	}
	return h.Page.Address() + "#" + h.Section.Anchor
}

// Piece is a part of an excerpt.
type Piece struct {
	Text  string
	Match bool
}

// query shortens what was typed to what is looked for.
func query(typed string) string {
	if n := []rune(typed); len(n) > queryRunes {
		typed = string(n[:queryRunes])
	}
	return strings.TrimSpace(typed)
}

// Search finds sections with all words of a query, best matches first: those with words in a page's title, then in a heading, then in the
// text. more: there are others.
func (b *Book) Search(q string) (hits []Hit, more bool) {
	words := strings.Fields(fold(query(q)))
	if len(words) == 0 {
		return nil, false
	}
	words = words[:min(len(words), queryWords)]
	for _, p := range b.sorted {
		var found []Hit
		for _, s := range p.Sections() {
			if n := score(p, s, words); n > 0 {
				found = append(found, Hit{Page: p, Section: s, score: n})
			}
		}
		slices.SortStableFunc(found, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
		more = more || len(found) > hitsPerPage
		hits = append(hits, found[:min(len(found), hitsPerPage)]...)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
	if len(hits) > hitsShown {
		hits, more = hits[:hitsShown], true
	}
	for i, h := range hits {
		hits[i].Excerpt = excerpt(h.Section.Text, words)
	}
	return hits, more
}

// score is 0 unless each word is in a section, its heading, or its page's title.
func score(p *Page, s Section, words []string) (sum int) {
	title, heading, body := fold(p.Title), fold(s.Heading), fold(s.Text)
	here := false
	for _, w := range words {
		n := min(strings.Count(body, w), 5)
		if strings.Contains(heading, w) {
			n += 12
		}
		here = here || n > 0
		if strings.Contains(title, w) {
			n += 4
			if s.Level == 1 {
				n += 30
			}
		}
		if n == 0 {
			return 0
		}
		sum += n
	}
	if !here {
		return 0
	}
	if phrase := strings.Join(words, " "); heading == phrase {
		sum += 100
	} else if len(words) > 1 && strings.Contains(heading+" "+body, phrase) {
		sum += 8
	}
	return sum
}

// fold makes letters small, and keeps the length.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// excerpt is the part of a text around the first match, with all matches marked.
func excerpt(text string, words []string) (all []Piece) {
	low, first := fold(text), -1
	for _, w := range words {
		if i := strings.Index(low, w); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	from := max(first-excerptRunes/4, 0)
	if space := strings.IndexByte(text[from:max(first, from)], ' '); from > 0 && space >= 0 {
		from += space + 1
	} else if from > 0 {
		from = first
	}
	to := from
	for n := 0; to < len(text) && n < excerptRunes; n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if space := strings.LastIndexByte(text[from:to], ' '); to < len(text) && space > 0 && from+space > first {
		to = from + space
	}
	if from > 0 {
		all = append(all, Piece{Text: "… "})
	}
	all = append(all, pieces(text[from:to], words)...)
	if to < len(text) {
		all = append(all, Piece{Text: " …"})
	}
	return all
}

// pieces splits a text at its matches.
func pieces(text string, words []string) (all []Piece) {
	low, begun := fold(text), 0
	for i := 0; i < len(text); {
		longest := 0
		for _, w := range words {
			if strings.HasPrefix(low[i:], w) {
				longest = max(longest, len(w))
			}
		}
		if longest == 0 {
			i++
			continue
		}
		if i > begun {
			all = append(all, Piece{Text: text[begun:i]})
		}
		all = append(all, Piece{Text: text[i : i+longest], Match: true})
		i += longest
		begun = i
	}
	if begun < len(text) {
		all = append(all, Piece{Text: text[begun:]})
	}
	return all
}
