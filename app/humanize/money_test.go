package humanize

import "testing"

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		x    float64
		code string
		want string
	}{
		{1.44, "USD", "$1.44"}, {12000, "EUR", "€12,000.00"}, {0.05, "CHF", "CHF 0.05"}, {1200, "JPY", "¥1,200"}, {-3.5, "GBP", "-£3.50"}, {7, "CAD", "CA$7.00"},
		{0.00744, "USD", "$0.0074"}, {0.02, "USD", "$0.02"}, {0.1, "USD", "$0.10"}, {0, "USD", "$0.00"}, {0.5, "JPY", "¥0"}, {0.0312, "JPY", "¥0.0312"}, {1.5, "KWD", "KWD 1.500"},
		{1.5, "", "1.50"}, {1234567.891, "", "1,234,567.89"}, {2, "NOPE", "2.00"}, {0.00001, "USD", "$0.00"}, {1e300, "", "1e"},
	} {
		got := Money(c.x, c.code)
		if c.x == 1e300 {
			if len(got) < 300 {
				t.Errorf("Money(%v) is %q", c.x, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("Money(%v, %q) is %q, want %q", c.x, c.code, got, c.want)
		}
	}
	for x, want := range map[float64]string{0: "–", -1: "–", 0.25: "$0.25/h"} {
		if got := PerHour(x, "USD"); got != want {
			t.Errorf("PerHour(%v) is %q, want %q", x, got, want)
		}
	}
	for code, want := range map[string]bool{"USD": true, "EUR": true, "usd": false, "$": false, "": false, "XXX": false, "EURO": false, "ABC": false} {
		if IsCurrency(code) != want {
			t.Errorf("IsCurrency(%q) is %t", code, !want)
		}
	}
}
