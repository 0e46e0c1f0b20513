package usage

import (
	"bytes"
	"encoding/csv"
	"muster/app"
	"strconv"
	"time"
)

// CSV writes usage for spreadsheets: a line of names, then one for each line of usage.
func (u Usage) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
	_ = w.Write([]string{"start", app.SheetCell(string(u.By)), "node_hours", "core_hours", "cost", "unpriced_node_hours"})
	for _, l := range u.Lines {
		_ = w.Write([]string{l.Start.UTC().Format(time.RFC3339), app.SheetCell(l.Key), number(l.NodeHours), number(l.CoreHours), number(l.Cost), number(l.Unpriced)})
	}
	w.Flush() // a buffer takes everything
	return b.Bytes()
}
