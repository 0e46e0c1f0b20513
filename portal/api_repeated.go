package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxNesting is how deep objects and arrays may be within each other in a body. What people write stays below ten.
const maxNesting = 100

// repeatedKey finds the first key that an object of a JSON text has twice, or where the text is nested too deeply; nil if neither. Of a
// repeated key the standard library takes the last value, other readers the first, so two programs could see two different requests.
// It takes time in proportion to the text. What is no JSON is left to the decoder to say.
func repeatedKey(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var open []nesting
	for {
		token, err := dec.Token()
		if err != nil {
			return nil //nolint:nilerr // the decoder of the request reports it
		}
		top := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				if len(open) == maxNesting {
					return &huma.ErrorDetail{Location: "body", Message: fmt.Sprintf("JSON is nested more than %d levels deep", maxNesting)}
				}
				n := nesting{}
				if t == '{' {
					n.keys, n.wantsKey = map[string]bool{}, true
				}
				open = append(open, n)
				continue
			}
			open = open[:top]
			top--
		case string:
			if top >= 0 && open[top].wantsKey {
				open[top].key, open[top].wantsKey = t, false
				if open[top].keys[t] {
					return &huma.ErrorDetail{Location: placeIn(open), Message: "the key is repeated; each key may be set once"}
				}
				open[top].keys[t] = true
				continue
			}
		}
		if top >= 0 { // a value has ended
			open[top].index++
			open[top].wantsKey = open[top].keys != nil
		}
	}
}

// nesting is an object or an array that is being read.
type nesting struct {
	keys     map[string]bool // nil for an array
	key      string
	wantsKey bool
	index    int
}

func placeIn(open []nesting) string {
	var b strings.Builder
	b.WriteString("body")
	for _, n := range open {
		if n.keys != nil {
			fmt.Fprintf(&b, ".%.100s", n.key)
		} else {
			b.WriteString("[" + strconv.Itoa(n.index) + "]")
		}
	}
	return b.String()
}
