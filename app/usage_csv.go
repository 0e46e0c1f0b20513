package app

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// CSV writes usage for spreadsheets: a line of names, then one for each line of usage.
func (u Usage) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
	_ = w.Write([]string{"start", string(u.By), "node_hours", "core_hours", "cost", "unpriced_node_hours"})
	for _, l := range u.Lines {
		_ = w.Write([]string{l.Start.UTC().Format(time.RFC3339), SheetCell(l.Key), number(l.NodeHours), number(l.CoreHours), number(l.Cost), number(l.Unpriced)})
	}
	w.Flush() // a buffer takes everything
	return b.Bytes()
}

// SheetCell keeps a spreadsheet from taking a text for a formula. Some read wide forms of the signs, too.
func SheetCell(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
