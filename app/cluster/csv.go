package cluster

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// ClustersCSV writes clusters for spreadsheets: with names, a line of names first; then one for each cluster.
func ClustersCSV(list []app.ClusterSummary, names bool) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if names {
		_ = w.Write([]string{"id", "name", "owner", "template", "provider", "nodes", "services", "status", "cost_per_hour", "created", "lease_end", "deleted", "message"})
	}
	moment := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, c := range list {
		_ = w.Write([]string{c.ID, app.SheetCell(c.Name), app.SheetCell(c.Owner), app.SheetCell(c.Template), app.SheetCell(c.Provider), strconv.Itoa(c.Size),
			app.SheetCell(strings.Join(c.Services, " ")), string(c.Status), strconv.FormatFloat(c.CostPerHour, 'f', 6, 64),
			moment(c.CreatedAt), moment(c.ExpiresAt), moment(c.DeletedAt), app.SheetCell(c.Message)})
	}
	w.Flush() // a buffer takes everything
	return b.Bytes()
}
