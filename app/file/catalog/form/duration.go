package form

import (
	"math"
	"regexp"
	"strconv"
	"time"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// duration is a duration as people write it: 30s, 10m, 8h, 30d, or several of them such as 1d12h, or 0.
type duration time.Duration

// durationPattern is also what the schema says.
const durationPattern = `^(0|([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?)$`

const durationWanted = "a duration such as 30s, 10m, 8h or 30d, or 0"

var durationShape = regexp.MustCompile(durationPattern)

// ParseDuration reads the form above. Anything else, and anything longer than app.ParseLength takes, is errShape.
func ParseDuration(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	if s == "" || !durationShape.MatchString(s) {
		return 0, errShape
	}
	length, err := template.ParseLength(s)
	if err != nil {
		return 0, errShape
	}
	return length, nil
}

func (x *duration) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!int") {
		if v, err := ParseDuration(n.Value); err == nil {
			*x = duration(v)
			return
		}
		if n.ShortTag() == "!!int" {
			d.Wrong(n, path, durationWanted, "add a unit: "+n.Value+"s, "+n.Value+"m, "+n.Value+"h or "+n.Value+"d")
			return
		}
	}
	d.Wrong(n, path, durationWanted, "")
}

func (duration) schema() map[string]any {
	return map[string]any{
		"oneOf": []any{
			map[string]any{"type": "string", "pattern": durationPattern, "minLength": 1},
			map[string]any{"const": 0},
		},
	}
}

// cooprDuration is Coopr's: a number of milliseconds, also as text, or text with one unit: 10s, 10m, 10h, 10d.
type cooprDuration time.Duration

func (x *cooprDuration) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!int", "!!str":
			if ms, err := strconv.ParseInt(n.Value, 10, 64); err == nil && ms >= 0 && ms <= math.MaxInt64/int64(time.Millisecond) {
				*x = cooprDuration(time.Duration(ms) * time.Millisecond)
				return
			}
			if v, err := ParseDuration(n.Value); err == nil {
				*x = cooprDuration(v)
				return
			}
		}
	}
	d.Wrong(n, path, `a number of milliseconds or a text such as "10s", "10m", "10h" or "10d"`, "")
}
