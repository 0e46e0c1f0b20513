package humanize

import (
	"strconv"
	"strings"
)

// Cost writes an amount without its currency. Small amounts keep enough digits to tell them from nothing; 0 means unknown and is a dash.
func Cost(x float64) string {
	switch {
	case x <= 0:
		return "–"
	case x < 0.1:
		text := strconv.FormatFloat(x, 'f', 4, 64)
		return text[:4] + strings.TrimRight(text[4:], "0")
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
