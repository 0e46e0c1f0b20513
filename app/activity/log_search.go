package activity

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
)

// LogPage is what was found of a log. Next is the number to continue at where not all was looked through: as After, or with Tail as
// Before; 0 where that is the end.
type LogPage struct {
	Lines []app.LogLine `json:"lines"`
	Next  int64         `json:"next,omitempty"`
	// Ended says that the operation, where only lines of one were asked for, had ended before they were read: there will be no more.
	Ended bool `json:"ended,omitempty"`
}

// How much one search looks through. Someone who looks for what is rare learns how far that was, and can continue.
const (
	searchBatch = 5000
	searchMost  = 200_000
	searchFor   = 5 * time.Second
)

// maxLogText is how long a text may be that is looked for.
const maxLogText = 200

// SearchLogs returns lines of a cluster's log that have a text, whatever its case; "" returns all. It looks through so many lines at most
// and says where to continue.
func (a *Service) SearchLogs(ctx context.Context, actor app.Actor, cluster string, f appcluster.LogFilter) (LogPage, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "SearchLogs", cluster)
	if err != nil {
		return LogPage{}, err
	}
	if len(f.Text) > maxLogText {
		return LogPage{}, &app.Error{Code: app.EInvalid, Field: "q", Message: "The search text is too long.", Hint: "Use at most 200 bytes."}
	}
	if f.Limit <= 0 {
		f.Limit = 500
	}
	f.Limit = min(f.Limit, maxLogLines)
	want := strings.ToLower(f.Text)
	out, batch := LogPage{Lines: []app.LogLine{}}, f
	if out.Ended, err = a.hasEnded(ctx, c, f.Operation); err != nil {
		return LogPage{}, err
	}
	if want != "" {
		batch.Limit = searchBatch
	} else {
		batch.Limit++ // one more reports whether there is more
	}
	m, err := a.Masks.MaskFor(ctx, actor, c)
	if err != nil {
		return LogPage{}, err
	}
	begun := a.Now()
	for looked := 0; ; {
		lines, err := a.Store.Logs(ctx, actor.Tenant, c.ID, batch)
		if err != nil {
			return LogPage{}, err
		}
		lines = appcluster.MaskLines(m, lines) // before anything is looked for, or a search would tell what is hidden
		looked += len(lines)
		for i := range lines {
			l := lines[i]
			if f.Tail {
				l = lines[len(lines)-1-i]
			}
			if want != "" && !strings.Contains(strings.ToLower(l.Text), want) {
				continue
			}
			if len(out.Lines) == f.Limit {
				out.Next = out.Lines[len(out.Lines)-1].Seq
				return out.inOrder(f.Tail), nil
			}
			out.Lines = append(out.Lines, l)
		}
		if len(lines) < batch.Limit {
			return out.inOrder(f.Tail), nil
		}
		if f.Tail {
			batch.Before = lines[0].Seq
		} else {
			batch.After = lines[len(lines)-1].Seq
		}
		if looked >= searchMost || a.Now().Sub(begun) > searchFor {
			out.Next = max(batch.After, 1)
			if f.Tail {
				out.Next = batch.Before
			}
			return out.inOrder(f.Tail), nil
		}
	}
}

// inOrder turns what was found from the end around.
func (p LogPage) inOrder(tail bool) LogPage {
	if tail {
		for i, j := 0, len(p.Lines)-1; i < j; i, j = i+1, j-1 {
			p.Lines[i], p.Lines[j] = p.Lines[j], p.Lines[i]
		}
	}
	return p
}

// hasEnded reports whether one of a cluster's operations has ended; 0 is none, which never ends.
func (a *Service) hasEnded(ctx context.Context, c app.Cluster, operation int64) (bool, error) {
	if operation == 0 {
		return false, nil
	}
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ops, func(o app.Operation) bool { return o.ID == operation && o.Status.Ended() }), nil
}
