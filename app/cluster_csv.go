package app

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ClustersCSV writes clusters for spreadsheets: with names, a line of names first; then one for each cluster.
func ClustersCSV(list []ClusterSummary, names bool) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if names {
		_ = w.Write([]string{"id", "name", "owner", "template", "provider", "nodes", "services", "status", "cost_per_hour", "created", "lease_end", "deleted",
			"message", "currency", "description", "labels"})
	}
	moment := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, c := range list {
		_ = w.Write([]string{c.ID, SheetCell(c.Name), SheetCell(c.Owner), SheetCell(c.Template), SheetCell(c.Provider), strconv.Itoa(c.Size),
			SheetCell(strings.Join(c.Services, " ")), string(c.Status), strconv.FormatFloat(c.CostPerHour, 'f', 6, 64),
			moment(c.CreatedAt), moment(c.ExpiresAt), moment(c.DeletedAt), SheetCell(c.Message), c.Currency, SheetCell(c.Description), SheetCell(labelCell(c.Labels))})
	}
	w.Flush() // a buffer takes everything
	return b.Bytes()
}

// labelCell writes labels as key=value, by key, with semicolons between them, which no value holds.
func labelCell(labels map[string]string) string {
	list := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, key+"="+labels[key])
	}
	return strings.Join(list, ";")
}

// SheetCell keeps a spreadsheet from taking a text for a formula. Some read wide forms of the signs, too.
func SheetCell(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
