package backup

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"muster/app/store/db"
)

// encodedValue is a value that JSON has no form for: a text that is no UTF-8 (programs print anything), or a number that is none.
type encodedValue struct {
	Base64 *string `json:"base64,omitempty"`
	Float  string  `json:"float,omitempty"`
}

// appendRow writes a row as a line.
func appendRow(b []byte, row []any) ([]byte, error) {
	b = append(b, '[')
	for i, v := range row {
		if i > 0 {
			b = append(b, ',')
		}
		switch x := v.(type) {
		case nil:
			b = append(b, "null"...)
		case int64:
			b = strconv.AppendInt(b, x, 10)
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				b = append(b, `{"float":"`+strconv.FormatFloat(x, 'g', -1, 64)+`"}`...)
				break
			}
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		case string:
			if !utf8.ValidString(x) {
				b = append(b, `{"base64":"`+base64.StdEncoding.EncodeToString([]byte(x))+`"}`...)
				break
			}
			text, err := json.Marshal(x)
			if err != nil {
				return nil, fmt.Errorf("backup: %w", err)
			}
			b = append(b, text...)
		case []byte:
			b = append(b, '"')
			b = base64.StdEncoding.AppendEncode(b, x)
			b = append(b, '"')
		default:
			return nil, fmt.Errorf("backup: a value of type %T", v)
		}
	}
	return append(b, ']', '\n'), nil
}

// readRow reads a line.
func readRow(line []byte, columns []db.Column) ([]any, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, err
	}
	if len(raw) != len(columns) {
		return nil, fmt.Errorf("%d values for %d columns", len(raw), len(columns))
	}
	row := make([]any, len(raw))
	for i, c := range columns {
		v, err := readValue(raw[i], c.Kind)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		row[i] = v
	}
	return row, nil
}

func readValue(raw json.RawMessage, kind db.Kind) (any, error) {
	text := string(raw)
	if text == "null" {
		return nil, nil
	}
	if text[0] == '{' {
		var o encodedValue
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		if o.Base64 == nil {
			return strconv.ParseFloat(o.Float, 64)
		}
		b, err := base64.StdEncoding.DecodeString(*o.Base64)
		return string(b), err
	}
	switch kind {
	case db.KindInt:
		return strconv.ParseInt(text, 10, 64)
	case db.KindFloat:
		return strconv.ParseFloat(text, 64)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	if kind == db.KindBytes {
		b, err := base64.StdEncoding.DecodeString(s)
		return b, err
	}
	return s, nil
}
