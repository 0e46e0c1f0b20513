package template

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// noun is what such a value is called, with examples where it helps.
func (t ParameterType) noun() string {
	switch t {
	case ParameterNumber:
		return "a number"
	case ParameterInteger:
		return "a whole number"
	case ParameterSize:
		return "a size such as 512M or 10G"
	case ParameterDuration:
		return "a duration such as 30s, 10m, 8h or 3d"
	}
	return "a " + string(t)
}

// measure returns a number, a size in bytes or a duration in seconds as a number to compare, and the value to keep: numbers as
// such, sizes and durations as they were written.
func (p Parameter) measure(given any) (n float64, kept any, ok bool) {
	text, isText := given.(string)
	text = strings.TrimSpace(text)
	if !isText {
		number, ok := numberOf(given)
		if !ok {
			return 0, nil, false
		}
		text = number
	}
	switch p.Type {
	case ParameterInteger:
		i, err := strconv.ParseInt(text, 10, 64)
		if f, e := strconv.ParseFloat(text, 64); err != nil && !isText && e == nil && f == math.Trunc(f) && math.Abs(f) <= exact {
			i, err = int64(f), nil // JSON may say 8080 as 8.08e3
		}
		if err != nil || i > exact || i < -exact {
			return 0, nil, false
		}
		return float64(i), int(i), true
	case ParameterNumber:
		f, err := strconv.ParseFloat(text, 64)
		return f, f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	case ParameterSize:
		n, ok := sizeBytes(text)
		return n, text, ok
	case ParameterDuration:
		d, ok := lengthOf(text)
		return d.Seconds(), text, ok
	}
	return 0, nil, false
}

// exact is the greatest whole number up to which all are distinguished in JSON.
const exact = 1 << 53

func numberOf(v any) (string, bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

var (
	sizeForm   = regexp.MustCompile(`^([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(?:iB|B)?$`)
	lengthForm = regexp.MustCompile(`^(?:([0-9]{1,6})d)?(?:([0-9]{1,8})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10})s)?(?:([0-9]{1,12})ms)?$`)
	lengthUnit = []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}
)

// sizeUnits are the units of sizes, in bytes; durationUnits those of durations, in seconds.
var (
	sizeUnits     = map[string]float64{"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
	durationUnits = map[string]float64{"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
)

func sizeBytes(text string) (float64, bool) {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if m[2] != "" {
		n *= sizeUnits[m[2]]
	}
	return n, err == nil && n == math.Trunc(n) && n <= exact
}

// lengthOf reads 1d12h, 90s, 250ms and 0. A hundred years are the most.
func lengthOf(text string) (time.Duration, bool) {
	if text == "0" {
		return 0, true
	}
	m := lengthForm.FindStringSubmatch(text)
	if m == nil || text == "" {
		return 0, false
	}
	const most = 100 * 365 * 24 * time.Hour
	var d time.Duration
	for i, part := range m[1:] {
		n, _ := strconv.ParseInt(part, 10, 64)
		if n > int64(most/lengthUnit[i]) {
			return 0, false
		}
		d += time.Duration(n) * lengthUnit[i]
	}
	return d, d <= most
}

// bound reads a limit; nil for none.
func (p Parameter) bound(text string) *float64 {
	if text == "" {
		return nil
	}
	if p.Type == ParameterText {
		p.Type = ParameterInteger
	}
	if n, _, ok := p.measure(text); ok {
		return &n
	}
	return nil
}

// Laid is the value as it is in the configuration.
func (p Parameter) Laid(v any) any {
	var per float64
	switch p.Type {
	case ParameterSize:
		per = sizeUnits[cmp.Or(p.Unit, "B")]
	case ParameterDuration:
		per = durationUnits[cmp.Or(p.Unit, "s")]
	default:
		return v
	}
	n, _, ok := p.measure(v)
	if !ok || per == 0 {
		return v
	}
	// Rounded, since a thousandth is no binary fraction.
	if q := math.Round(n/per*1e6) / 1e6; q != math.Trunc(q) {
		return q
	} else {
		return int(q)
	}
}
