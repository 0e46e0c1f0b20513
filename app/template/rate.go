package template

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"muster/app"
)

// Rate is how many calls an account takes: so many a second in the long run, Burst at once. The zero Rate is no limit.
type Rate struct {
	PerSecond float64 `json:"per_second"`
	Burst     int     `json:"burst"`
}

// RatePattern is the form that ParseRate reads.
const RatePattern = `^[1-9][0-9]{0,6}/(s|m|h)$`

var rateForm = regexp.MustCompile(RatePattern)

// ParseRate reads a rate such as 10/s, 600/m or 5000/h. Its burst is what one second allows, one call at least. Anything
// else is EInvalid.
func ParseRate(s string) (Rate, error) {
	if !rateForm.MatchString(s) {
		return Rate{}, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Invalid rate %q.", s), Hint: "Use a form such as 10/s, 600/m or 5000/h."}
	}
	n, err := strconv.Atoi(s[:len(s)-2])
	if err != nil {
		return Rate{}, app.Errorf(app.EInvalid, "Invalid rate %q: %w", s, err)
	}
	seconds := map[byte]float64{'s': 1, 'm': 60, 'h': 3600}[s[len(s)-1]]
	perSecond := float64(n) / seconds
	return Rate{PerSecond: perSecond, Burst: max(1, int(math.Ceil(perSecond)))}, nil
}

// Limited reports whether there is a limit at all.
func (r Rate) Limited() bool { return r.PerSecond > 0 }
