package store

import (
	"encoding/json"
	"math"
)

// jsonText writes a plain value; it cannot fail for the types that we keep.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(b)
}

// flag is how both databases keep a yes or no.
func flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// texts gathers rows of one text.
func texts(into *[]string) func(scanner) error {
	return func(row scanner) error {
		var text string
		err := row.Scan(&text)
		*into = append(*into, text)
		return err
	}
}

// anys returns strings as values of a statement.
func anys(of []string) []any {
	out := make([]any, len(of))
	for i, s := range of {
		out[i] = s
	}
	return out
}

// rounded takes from a price what adding and taking away has left behind.
func rounded(price float64) float64 { return max(0, math.Round(price*1e9)/1e9) }
