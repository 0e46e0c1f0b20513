package template

import (
	"fmt"
	"strconv"
)

// ParameterValueText is a value of a parameter as it stands in a form; "" for none. Numbers have no exponents, which whole numbers are
// not read with.
func ParameterValueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
