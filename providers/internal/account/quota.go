package account

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
)

// Kind is one kind of machine, by the name of its flavor, and what one of it takes of quotas, by their names.
type Kind struct {
	Name  string
	Takes map[string]float64
}

// Quota is how much of something an account may have, and has. One with a Limit below 0 has none.
type Quota struct {
	Name  string // as in "8 CPUs"
	Limit float64
	Used  float64
}

// Left is what of a quota is left, at least 0.
func (q Quota) Left() float64 {
	if q.Limit < 0 {
		return math.Inf(1)
	}
	return max(q.Limit-q.Used, 0)
}

// Apart looks at each kind for itself, and never at all of them together: a kind of which quotas leave no room for even one machine is a warning, since others
// can be made. Where that holds for every kind, nothing can be made, which is an error; with one quota that leaves room for none of them, it says
// all. The same is
// reported once; nil where there is room for one of each.
func Apart(kinds []Kind, quotas []Quota, hint string) (found []family.Finding) {
	if len(kinds) == 0 {
		return nil
	}
	wrong := func(subject, message string, warning bool) {
		f := family.Finding{About: family.AboutQuota, Subject: subject, Warning: warning, Code: app.EQuota, Hint: hint, Message: message}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	for _, q := range quotas {
		least := math.Inf(1)
		for _, k := range kinds {
			least = min(least, k.Takes[q.Name])
		}
		if least > q.Left() {
			wrong(q.Name, "Can't create any machine: each kind needs at least "+lack(least, q)+".", false)
		}
	}
	if len(found) > 0 {
		return found
	}
	none := true
	for _, k := range kinds {
		var lacks []string
		for _, q := range quotas {
			if n := k.Takes[q.Name]; n > q.Left() {
				lacks = append(lacks, lack(n, q))
			}
		}
		if len(lacks) > 0 {
			wrong(k.Name, "No capacity for a machine of "+k.Name+": it needs "+strings.Join(lacks, " and ")+".", true)
		}
		none = none && len(lacks) > 0
	}
	if none {
		wrong("", "Can't create any machine: no capacity for any of the checked kinds.", false)
	}
	return found
}

func lack(n float64, q Quota) string {
	what := q.Name
	if n == 1 && !strings.Contains(what, " of ") && !strings.Contains(what, " in ") {
		what = strings.TrimSuffix(what, "s")
	}
	return Number(n) + " " + what + " (" + Number(q.Left()) + " of " + Number(q.Limit) + " available)"
}

// Number writes a number as people do, with at most two places after the point.
func Number(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }
