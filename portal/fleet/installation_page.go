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

// Settings is the page of a server's settings.
type Settings struct {
	Now   time.Time
	Facts fleet.ServerInfo
	Set   bool // without defaults
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
		return "set (secret)"
	case s.Value == "" && strings.HasPrefix(s.From, "environment, "):
		return "see source"
	case s.Value == "":
		return "–"
	}
	return s.Value
}

func skewWords(d time.Duration) string {
	switch {
	case d > 0:
		return humanize.Duration(d) + " ahead of the database"
	case d < 0:
		return humanize.Duration(-d) + " behind the database"
	}
	return "in sync with the database"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// ProviderHealth is the page of the health of provider accounts.
type ProviderHealth struct {
	Now      time.Time
	Accounts []fleet.ProviderHealth
}

// healthMark is the state of an account: failed if all calls fail or it can't be listed, asked if some fail.
func healthMark(h fleet.ProviderHealth) (mark, word string) {
	all, failed := h.Calls()
	switch {
	case h.Throttled > 0:
		return string(app.StepRunning), "throttled for " + humanize.Rough(h.Throttled)
	case h.LastListing.Unlisted():
		return string(app.StepFailed), "can't be listed"
	case failed > 0 && failed == all:
		return string(app.StepFailed), "all calls failing"
	case failed > 0:
		return string(app.StepAsked), fmt.Sprintf("%d%% of calls failing", max(1, failed*100/all))
	case all > 0:
		return string(app.StepSucceeded), "healthy"
	}
	return string(app.StepWaiting), "no recent calls"
}

// byCode lists failed calls by error, most frequent first.
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
		return "none"
	}
	return fmt.Sprintf("%.4g calls/s, burst %d", r.PerSecond, max(1, r.Burst))
}
