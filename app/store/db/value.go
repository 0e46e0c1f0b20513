package db

import (
	"database/sql"
	"encoding/json"
	"math"
)

// JSON writes a plain value; it cannot fail for the types that we keep.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(b)
}

// NullInt64 is a number that a row may lack.
type NullInt64 = sql.NullInt64

// Flag is how both databases keep a yes or no.
func Flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Texts gathers rows of one text.
func Texts(into *[]string) func(Scanner) error {
	return func(row Scanner) error {
		var text string
		err := row.Scan(&text)
		*into = append(*into, text)
		return err
	}
}

// Anys returns strings as values of a statement.
func Anys(of []string) []any {
	out := make([]any, len(of))
	for i, s := range of {
		out[i] = s
	}
	return out
}

// Rounded takes from a price what adding and taking away has left behind.
func Rounded(price float64) float64 { return max(0, math.Round(price*1e9)/1e9) }
