package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/solver/internal/request"
)

// Text writes an explanation for people to read: what is wrong or cannot hold together, one line each, and what
// would work. It writes nothing for an empty one. The error is that of w.
func Text(w io.Writer, e layout.Explanation) error {
	var b strings.Builder
	if len(e.Problems) > 0 {
		b.WriteString("This request is invalid:\n")
		for _, p := range e.Problems {
			bullet(&b, p.Message, p.Hint)
		}
	}
	if len(e.Conflict) > 0 {
		if e.Minimal {
			b.WriteString("These requirements conflict:\n")
		} else {
			b.WriteString("These requirements conflict (some may not matter; time ran out before all were checked):\n")
		}
		for _, c := range e.Conflict {
			bullet(&b, c.Text, c.Origin)
		}
	}
	switch {
	case len(e.Fixes) == 1:
		b.WriteString("This would work:\n")
	case len(e.Fixes) > 1:
		b.WriteString("Any of these would work:\n")
	case len(e.Conflict) > 0:
		b.WriteString("No alternative was found.\n")
	}
	for _, f := range e.Fixes {
		bullet(&b, f.Text, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bullet writes a line, and in brackets what is said beside it.
func bullet(b *strings.Builder, text, beside string) {
	fmt.Fprintf(b, "  - %s", strings.ReplaceAll(text, "\n", "\n    "))
	if beside != "" {
		fmt.Fprintf(b, "  (%s)", beside)
	}
	b.WriteByte('\n')
}

// merged returns the clauses, save that pairs which all exclude each other are listed in one.
func merged(clauses []layout.Clause) []layout.Clause {
	var pairs [][]string
	for _, c := range clauses {
		if c.Kind == kindCant && len(c.Services) == 2 {
			pairs = append(pairs, c.Services)
		}
	}
	cliques := request.ExclusiveGroups(pairs)
	reported := map[int]bool{}
	var out []layout.Clause
	for _, c := range clauses {
		g, in := cliques[strings.Join(c.Services, " ")]
		switch {
		case c.Kind != kindCant || !in:
			out = append(out, c)
		case !reported[g.Number]:
			reported[g.Number] = true
			c.Text, c.Services = fmt.Sprintf("no two of %s can share a node", humanize.And(g.Services)), slices.Clone(g.Services)
			out = append(out, c)
		}
	}
	return out
}
