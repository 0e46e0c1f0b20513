package scaling

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/app/humanize"
	"muster/app/template"
)

// Number is a script that nodes run in a batch of health checks.
type Number struct {
	Name    string `json:"name"`
	Script  string `json:"script"`
	Service string `json:"service,omitempty"` // only nodes with it run it
}

// Numbers are the scripts of rules.
func Numbers(p *template.ScalingPolicy) (list []Number) {
	if p == nil {
		return nil
	}
	for _, m := range p.Metrics {
		if m.Script != "" {
			list = append(list, Number{Name: m.Name, Script: m.Script, Service: m.Service})
		}
	}
	return list
}

// NodeNumber is what a script said on a node: a value, or why there is none.
type NodeNumber struct {
	Node  string  `json:"node"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Wrong string  `json:"wrong,omitempty"`
}

// MaxWrongText is the longest reason that is kept, in letters.
const MaxWrongText = 200

// Bounded returns the number within its limits.
func (n NodeNumber) Bounded() NodeNumber {
	out := NodeNumber{Node: humanize.CutText(n.Node, 100), Name: humanize.CutText(n.Name, 40), Value: n.Value,
		Wrong: humanize.CutText(strings.ToValidUTF8(n.Wrong, ""), MaxWrongText)}
	if out.Wrong == "" && (math.IsNaN(out.Value) || math.IsInf(out.Value, 0)) {
		out.Value, out.Wrong = 0, "isn't a number"
	}
	return out
}

// ReadNumber reads what a script ended with and printed: the last line counts.
func ReadNumber(exit int, said string) (float64, string) {
	said = strings.TrimSpace(said)
	switch {
	case exit == 124 || exit == 137:
		return 0, "no answer within " + humanize.Duration(template.ScalingScriptTime)
	case exit != 0:
		return 0, humanize.CutText(fmt.Sprintf("failed with exit code %d: %s", exit, said), MaxWrongText)
	}
	last := said
	if fields := strings.Fields(said); len(fields) > 0 {
		last = fields[len(fields)-1]
	}
	v, err := strconv.ParseFloat(last, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Sprintf("printed %q, which isn't a number", humanize.CutText(said, 60))
	}
	return v, ""
}

// Value is what was measured of a metric.
type Value struct {
	Number  float64 `json:"number"`
	Partial bool    `json:"partial,omitempty"` // not all nodes said theirs: it shrinks nothing
	Wrong   string  `json:"wrong,omitempty"`   // why there is no number
}

// Point is a measurement. Nodes is how many the cluster had.
type Point struct {
	At     time.Time        `json:"at"`
	Nodes  int              `json:"nodes"`
	Values map[string]Value `json:"values"`
}

// Gather makes one value each of what nodes said. Asked are the nodes that were to say something.
func Gather(p *template.ScalingPolicy, said []NodeNumber, asked int) map[string]Value {
	out := map[string]Value{}
	for _, m := range p.Metrics {
		if m.Script == "" {
			continue
		}
		v, n, wrong, sum, most := Value{}, 0, "", 0.0, math.Inf(-1)
		answers := 0
		for _, s := range said {
			if s.Name != m.Name {
				continue
			}
			answers++
			if s.Wrong != "" {
				wrong = s.Node + ": " + s.Wrong
				continue
			}
			n++
			sum += s.Value
			most = max(most, s.Value)
		}
		switch {
		case n == 0 && wrong == "":
			v.Wrong = "no node gave a number"
		case n == 0:
			v.Wrong = humanize.CutText(wrong, MaxWrongText)
		case m.Aggregate == template.ScalingSum:
			v.Number = sum
		case m.Aggregate == template.ScalingMax:
			v.Number = most
		default:
			v.Number = sum / float64(n)
		}
		v.Partial = n < answers || m.Service == "" && n < asked
		out[m.Name] = v
	}
	return out
}
