package client

import (
	"context"
	"net/http"
	"time"

	"muster/app/bulk"
)

// BulkRequest is what is done to several clusters, by ID or name.
type BulkRequest struct {
	Action   bulk.Action `json:"action"`
	Clusters []string    `json:"clusters"`
	By       string      `json:"by,omitempty"`
	Until    time.Time   `json:"until,omitzero"`
	Reason   string      `json:"reason,omitempty"`
}

// BulkPreview says what Bulk would do.
func (c *Clusters) BulkPreview(ctx context.Context, r BulkRequest) (bulk.Report, error) {
	return c.bulk(ctx, "/clusters/bulk/preview", r)
}

// Bulk does the same to several clusters, in several calls if there are many. The report has what is done so far also in case of an error.
func (c *Clusters) Bulk(ctx context.Context, r BulkRequest) (bulk.Report, error) {
	return c.bulk(ctx, "/clusters/bulk", r)
}

func (c *Clusters) bulk(ctx context.Context, path string, r BulkRequest) (bulk.Report, error) {
	all := bulk.Report{Action: r.Action, Results: []bulk.Result{}}
	for rest := r.Clusters; len(rest) > 0; {
		n := min(len(rest), bulk.Most)
		r.Clusters, rest = rest[:n], rest[n:]
		var part bulk.Report
		if err := c.client.Call(ctx, http.MethodPost, path, nil, r, &part); err != nil {
			return all, err
		}
		all.Results = append(all.Results, part.Results...)
	}
	return all, nil
}
