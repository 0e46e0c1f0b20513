package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/template"
)

// Settings is the page of how a server is set up.
type Settings struct {
	Now   time.Time
	Facts fleet.ServerFacts
	Set   bool // only what is set
}

func (s Settings) shown() []fleet.Setting {
	if !s.Set {
		return s.Facts.Settings
	}
	return slices.DeleteFunc(slices.Clone(s.Facts.Settings), func(x fleet.Setting) bool { return x.From == "default" })
}

func settingValue(s fleet.Setting) string {
	switch {
	case s.Secret && s.Set:
		return "set, secret"
	case s.Value == "" && strings.HasPrefix(s.From, "environment, "):
		return "as there"
	case s.Value == "":
		return "–"
	}
	return s.Value
}

func skewWords(d time.Duration) string {
	switch {
	case d > 0:
		return d.String() + " ahead of the database"
	case d < 0:
		return (-d).String() + " behind the database"
	}
	return "as the database's"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// ProviderHealth is the page of how provider accounts are to work with.
type ProviderHealth struct {
	Now      time.Time
	Accounts []fleet.ProviderHealth
}

// healthMark is ready where all goes well, failed where nothing does, and asked where some does not.
func healthMark(h fleet.ProviderHealth) (mark, word string) {
	all, failed := h.Calls()
	switch {
	case h.Throttled > 0:
		return string(app.StepRunning), "throttled for " + humanize.Rough(h.Throttled)
	case h.Listed.Unlisted():
		return string(app.StepFailed), "cannot be listed"
	case failed > 0 && failed == all:
		return string(app.StepFailed), "all calls fail"
	case failed > 0:
		return string(app.StepAsked), fmt.Sprintf("%d %% of the calls fail", max(1, failed*100/all))
	case all > 0:
		return string(app.StepSucceeded), "well"
	}
	return string(app.StepWaiting), "no calls lately"
}

// byCode lists the calls that did not go well, the most frequent first.
func byCode(by map[app.Code]int) string {
	type one struct {
		code app.Code
		n    int
	}
	var all []one
	for c, n := range by {
		if c != "" {
			all = append(all, one{c, n})
		}
	}
	slices.SortFunc(all, func(x, y one) int {
		if x.n != y.n {
			return y.n - x.n
		}
		return strings.Compare(string(x.code), string(y.code))
	})
	words := make([]string, len(all))
	for i, o := range all {
		words[i] = fmt.Sprintf("%d %s", o.n, strings.ReplaceAll(string(o.code), "_", " "))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func callsOf(by map[app.Code]int) (n int) {
	for _, k := range by {
		n += k
	}
	return n
}

func rateWords(r template.Rate) string {
	if !r.Limited() {
		return "no limit of its own"
	}
	return fmt.Sprintf("%.4g calls a second, %d at once", r.PerSecond, max(1, r.Burst))
}
