package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"muster/app/layout"
)

func TestLayoutGrid(t *testing.T) {
	var out bytes.Buffer
	err := PrintLayout(&out, "shop", layout.Layout{Provider: "here", CostPerHour: 1.7, Currency: "EUR", Groups: []layout.NodeGroup{
		{Count: 1, Hardware: "big", Image: "host", Services: []string{"db", "zone"}, Zone: "a", CostPerHour: 1.5},
		{Count: 2, Hardware: "small", Image: "host", Services: []string{"web"}, Zone: "b", CostPerHour: 0.2},
	}, Notes: []string{"db is only on big.", "web fills what is left."}})
	want := `shop: 3 nodes on here, €1.70 per hour

               n1     n2-n3 (2)
hardware       big    small
image          host   host
zone           a      b
cost per hour  €1.50  €0.20

db             ●      ·
web            ·      ●
zone           ●      ·

Why this layout:
  - db is only on big.
  - web fills what is left.
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestWideLayoutsAreContinuedBelow(t *testing.T) {
	l := layout.Layout{Provider: "here"}
	for i := range 30 {
		l.Groups = append(l.Groups, layout.NodeGroup{Count: 10, Hardware: "medium", Image: "debian", Services: []string{fmt.Sprintf("s%02d", i)}})
	}
	var out bytes.Buffer
	if err := PrintLayout(&out, "wide", l); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if utf8.RuneCountInString(line) > gridWidth+1 {
			t.Errorf("a line of %d: %s", utf8.RuneCountInString(line), line)
		}
	}
	if strings.Count(out.String(), "●") != 30 || !strings.Contains(out.String(), "n291-n300 (10)") {
		t.Error(out.String())
	}
}
