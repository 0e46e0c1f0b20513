package page

import (
	"math"
	"testing"

	"muster/app/template"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		template.SizeRange
		want, refusal string
	}{
		{template.SizeRange{Min: 1, Max: 1}, "exactly 1 node", "Choose exactly 1 node (you entered 4)."},
		{template.SizeRange{Min: 5, Max: 50}, "5 to 50 nodes", "Choose 5–50 nodes (you entered 4)."},
		{template.SizeRange{Min: 5, Max: math.MaxInt32}, "5 or more nodes", "Choose 5 or more nodes (you entered 4)."},
		{template.SizeRange{}, "1 or more nodes", ""},
		{template.SizeRange{Min: 3, Max: 7, OneOf: []int{3, 5, 7}}, "3, 5 or 7 nodes", "Choose 3, 5 or 7 nodes (you entered 4)."},
	} {
		if got := Sizes(c.SizeRange); got != c.want {
			t.Errorf("Sizes(%v) is %q, not %q", c.SizeRange, got, c.want)
		}
		if c.Allows(4) != (c.refusal == "") || c.refusal != "" && c.Refusal(4) != c.refusal {
			t.Errorf("%v allows 4: %v, and refuses it with %q", c.SizeRange, c.Allows(4), c.Refusal(4))
		}
	}
}
