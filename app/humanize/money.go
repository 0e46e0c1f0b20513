package humanize

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/text/currency"
)

// IsCurrency reports whether a code is a currency of ISO 4217, such as USD, in capital letters.
func IsCurrency(code string) bool {
	unit, err := currency.ParseISO(code)
	const none, testing = "XXX", "XTS" // codes of the standard that name no currency
	return err == nil && unit.String() == code && code != none && code != testing
}

// Money writes an amount of a currency of ISO 4217: "$1.44", "€12,000.00", "CHF 0.05", "¥1,200". Amounts below 0.1 keep up to four digits, to
// tell them from nothing. Of an unknown code, or "", only the amount is written.
func Money(x float64, code string) string {
	sign := ""
	if x < 0 {
		sign, x = "-", -x
	}
	unit, err := currency.ParseISO(code)
	if err != nil || code == "" {
		return sign + amount(x, 2)
	}
	digits, _ := currency.Standard.Rounding(unit)
	symbol := fmt.Sprint(currency.Symbol(unit))
	switch symbol {
	case "US$":
		symbol = "$"
	case "JP¥":
		symbol = "¥"
	case code:
		symbol += " "
	}
	return sign + symbol + amount(x, digits)
}

// Number writes a number with so many digits after the point, and its thousands in groups: "1,052", "12,000.50".
func Number(x float64, digits int) string {
	text := strconv.FormatFloat(x, 'f', digits, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n != 0 { // "-0.5" keeps its sign
		whole = humanize.Comma(n)
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

func amount(x float64, digits int) string {
	if x >= 0.1 || x == 0 {
		return Number(x, digits)
	}
	text := strconv.FormatFloat(x, 'f', max(4, digits), 64)
	least := len("0.") + digits
	if digits == 0 {
		least = len("0")
	}
	return text[:least] + strings.TrimRight(strings.TrimRight(text[least:], "0"), ".")
}

// Price is Money for what may be unknown, which is a dash.
func Price(x float64, code string) string {
	if x <= 0 {
		return "–"
	}
	return Money(x, code)
}

// PerHour is Price for an hour: "$1.44/h".
func PerHour(x float64, code string) string {
	if x <= 0 {
		return "–"
	}
	return Money(x, code) + "/h"
}
