package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/template"
)

// Severity tells what keeps a catalog from being used from what only deserves a look.
type Severity string

// The severities. Load fails on the first kind only.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one thing wrong with a catalog. Column counts from 1; 0 means that it is not known. Hint, when set, says
// what would fix it. No problem ever quotes a provider's setting, which may be a secret.
type Problem struct {
	Origin   template.Origin `json:"origin"`
	Column   int             `json:"column,omitempty"`
	Severity Severity        `json:"severity"`
	Message  string          `json:"message"`
	Hint     string          `json:"hint,omitempty"`
	// Field is the path of the value in its entry in our own form, such as constraints.size.min; "" where it is not one value. Kind
	// and Name are those of the entry, as far as they are known.
	Field string `json:"field,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
}

// String returns "file:line:column: severity: message; hint", the form that editors know how to jump to.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Origin.String())
	if p.Column > 0 && p.Origin.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Column)
	}
	fmt.Fprintf(&b, ": %s: %s", p.Severity, humanize.WithHint(p.Message, p.Hint))
	return b.String()
}

// Problems is all that is wrong with a catalog, in the order of files and lines.
type Problems []Problem

var _ error = Problems(nil)

// Error returns one problem per line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Count tells how many problems have the severity.
func (ps Problems) Count(s Severity) int {
	n := 0
	for _, p := range ps {
		if p.Severity == s {
			n++
		}
	}
	return n
}

// MaxProblems bounds what a hopeless file can make us say.
const MaxProblems = 1000

// Reporter gathers problems and counts the errors, so that a reader can tell whether a stretch of work went well.
type Reporter struct {
	List   Problems
	Errors int
	said   int
}

func (r *Reporter) Add(p Problem) {
	r.said++
	if p.Severity == SeverityError {
		r.Errors++
	}
	if len(r.List) < MaxProblems {
		r.List = append(r.List, p)
	}
}

// Count is how many problems there are, those among them that are not listed.
func (r *Reporter) Count() int { return r.said }

// Sorted returns the problems in reading order. Where there were too many, the last one says so.
func (r *Reporter) Sorted() Problems {
	slices.SortStableFunc(r.List, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Origin.File, b.Origin.File),
			cmp.Compare(a.Origin.Line, b.Origin.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message),
		)
	})
	if len(r.List) == MaxProblems {
		return append(slices.Clip(r.List), Problem{
			Severity: SeverityError,
			Message:  fmt.Sprintf("%d problems or more; only the first ones found are listed", MaxProblems),
		})
	}
	return r.List
}
