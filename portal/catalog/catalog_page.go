package catalog

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app/catalog"
	"muster/app/template"
	"muster/portal/page"
)

// List is the catalog list for admins: all kinds, or one.
type List struct {
	Kind  string // "" is all
	Query string
	Own   bool // only the tenant's own
	Items []catalog.Item
	Page  int // from 1; of one kind only
	More  bool
	Now   time.Time
	Edit  bool
	Total map[string]int // entries by kind
	Ours  int
}

// catalogFew limits the entries of each kind in the list of all kinds.
const catalogFew = 5

// catalogPage is the page size of one kind's list.
const catalogPage = 50

func (l List) kinds() []string {
	if l.Kind != "" {
		return []string{l.Kind}
	}
	var out []string
	for _, k := range template.CatalogKinds {
		if l.Query == "" && !l.Own || len(l.of(k)) > 0 {
			out = append(out, k)
		}
	}
	return out
}

func (l List) of(kind string) (out []catalog.Item) {
	for _, i := range l.Items {
		if i.Kind == kind {
			out = append(out, i)
		}
	}
	return out
}

// shown are the listed entries of a kind: in the list of all kinds, the first few.
func (l List) shown(kind string) []catalog.Item {
	of := l.of(kind)
	if l.Kind == "" && l.Query == "" && !l.Own {
		return of[:min(len(of), catalogFew)]
	}
	return of
}

func (l List) href(kind string, page int) string {
	path, q := "/admin/catalog", url.Values{}
	if kind != "" {
		path += "/" + kind
	}
	if l.Query != "" {
		q.Set("q", l.Query)
	}
	if l.Own {
		q.Set("own", "true")
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return path
}

// KindTitle is a kind as a heading.
func KindTitle(kind string) string {
	switch kind {
	case template.KindTemplate:
		return "Templates"
	case template.KindService:
		return "Services"
	case template.KindImage:
		return "Images"
	case template.KindHardware:
		return "Hardware"
	case template.KindProvider:
		return "Providers"
	}
	return kind
}

func catalogKindText(kind string) string {
	switch kind {
	case template.KindTemplate:
		return "What people create clusters from."
	case template.KindService:
		return "Software to run on nodes."
	case template.KindImage:
		return "Operating systems and each provider's name for them."
	case template.KindHardware:
		return "Machine sizes and each provider's name for them."
	case template.KindProvider:
		return "Cloud accounts and other sources of machines."
	}
	return ""
}

// Path is an entry's page. An entry named "new" has a query, since that path is the page for new entries.
func Path(k template.CatalogKey) string {
	path := "/admin/catalog/" + url.PathEscape(k.Kind) + "/" + url.PathEscape(k.Name)
	if k.Name == "new" {
		path += "?entry"
	}
	return path
}

// ActPath is the page of an action on an entry.
func ActPath(k template.CatalogKey, act string) string {
	return "/admin/catalog/" + url.PathEscape(k.Kind) + "/" + url.PathEscape(k.Name) + "/" + act
}

// usedKey reads "kind name".
func usedKey(s string) template.CatalogKey {
	kind, name, _ := strings.Cut(s, " ")
	return template.CatalogKey{Kind: kind, Name: name}
}

func catalogTitle(i catalog.Item) string {
	if i.Label != "" {
		return i.Label
	}
	return i.Name
}

func catalogState(i catalog.Item) string {
	if i.Kind != template.KindTemplate {
		return ""
	}
	if i.State == "" {
		return string(template.StatePublished)
	}
	return string(i.State)
}

// Show is one entry.
type Show struct {
	Source    catalog.Source
	Form      Form // of its text, for the facts
	Versions  []catalog.Revision
	Diff      *Diff
	From, To  int
	Deleted   bool // removed; only versions remain
	Edit      bool
	Now       time.Time
	Saved     bool // just saved
	SavedNote []string
}

// facts are the sections of the form with values.
func (s Show) facts() (out []Section) {
	for i, x := range s.Form.Sections {
		if i == 0 {
			continue // the name is in the heading
		}
		var kept Section
		kept.Title = x.Title
		for _, f := range x.Fields {
			if f.said() {
				kept.Fields = append(kept.Fields, f)
			}
		}
		for _, r := range x.Rows {
			row := Row{Title: r.Title}
			for _, f := range r.Fields {
				if f.said() && (f.Path[len(f.Path)-1] != "name" || f.Value != r.Title) { // the title says the name
					row.Fields = append(row.Fields, f)
				}
			}
			kept.Rows = append(kept.Rows, row)
		}
		if len(kept.Fields)+len(kept.Rows) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// Review is the preview of a change.
type Review struct {
	Key     template.CatalogKey
	Title   string // page title, such as Save web
	Text    string // the YAML to save
	Save    string // button label
	Action  string // the form's target
	Do      string
	Back    string // the cancel link
	AsOf    string
	Number  int // version to restore
	Note    string
	Diff    *Diff
	Report  catalog.Report
	Secrets []string // stored secrets
	Problem page.Complaint
	// Conflict and Theirs are set if someone saved another version meanwhile.
	Conflict bool
	Theirs   catalog.Source
	Editable bool // can go back to the editor
	New      bool
	Danger   bool
}

func (r Review) warnings() (out []string) {
	for _, c := range r.Report.Changes {
		for _, w := range c.Warnings {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func problemMark(severity string) string {
	if severity == "error" {
		return "failed"
	}
	return "asked"
}

func errorsIn(list []catalog.Problem) (n int) {
	for _, p := range list {
		if p.Severity == "error" {
			n++
		}
	}
	return n
}

func place(p catalog.Problem) string {
	out := p.File
	if p.Line > 0 {
		out += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			out += ":" + strconv.Itoa(p.Column)
		}
	}
	return out
}

func versionsPath(k template.CatalogKey, from, to int) string {
	path := Path(k)
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	return path + sep + "from=" + strconv.Itoa(from) + "&to=" + strconv.Itoa(to) + "#changes"
}

// brief cuts a long value, such as a script, whose lines are shown below.
func brief(s string) string {
	if s == "" {
		return "–"
	}
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}

func diffClass(sign string) string {
	switch sign {
	case "+":
		return "d-new"
	case "-":
		return "d-gone"
	}
	return ""
}

func diffSign(sign string) string {
	if sign == "-" {
		return "−"
	}
	return sign
}

func diffWord(sign string) string {
	switch sign {
	case "+":
		return "added"
	case "-":
		return "removed"
	}
	return ""
}

func lineNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// ProblemWords is a problem's message without the entry's name.
func ProblemWords(p catalog.Problem) string {
	if kind, rest, ok := strings.Cut(p.Message, " \""); ok && slices.Contains(template.CatalogKinds, kind) {
		if name, words, ok := strings.Cut(rest, "\": "); ok && !strings.Contains(name, "\"") {
			return words
		}
	}
	return p.Message
}
