package cluster

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/activity"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// The number of lines on the page of logs, and of lines before and after a linked one.
const (
	LogLines   = 300
	logContext = 100
)

// logQuery reads the filter of a log.
func logQuery(q url.Values) (LogQuery, appcluster.LogFilter, error) {
	l := LogQuery{Node: q.Get("node"), Step: q.Get("step"), Stream: q.Get("stream"), Text: strings.TrimSpace(q.Get("q"))}
	if s := q.Get("operation"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return l, appcluster.LogFilter{}, &app.Error{Code: app.EInvalid, Field: "operation", Message: fmt.Sprintf("Operation %q is invalid.", s)}
		}
		l.Operation = n
	}
	switch app.Stream(l.Stream) {
	case "", family.StreamOut, family.StreamErr, family.StreamSystem:
	default:
		return l, appcluster.LogFilter{}, &app.Error{Code: app.EInvalid, Field: "stream", Message: fmt.Sprintf("Stream %q doesn't exist.", l.Stream),
			Hint: "Use " + string(family.StreamOut) + ", " + string(family.StreamErr) + " or " + string(family.StreamSystem) + "."}
	}
	return l, appcluster.LogFilter{Operation: l.Operation, Node: l.Node, Step: l.Step, Stream: app.Stream(l.Stream), Text: l.Text}, nil
}

// lineNumber reads the number of a line from an address; 0 for none.
func lineNumber(q url.Values, name string) (int64, error) {
	s := q.Get(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, &app.Error{Code: app.EInvalid, Field: name, Message: fmt.Sprintf("Line %q is invalid.", s)}
	}
	return n, nil
}

// logs are the pages of clusters' logs, and the list of steps.
type logs struct {
	*site.Site
}

func (p *logs) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/logs", p.Show),
		site.Show("/clusters/{id}/logs/download", p.Download).Stream(),
	}
}

func (p *logs) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/steps", p.APIStepList, site.About("List the steps of an operation")),
		site.Get("/clusters/{id}/logs", p.APIList, site.About("Read the log of a cluster")),
	}
}

// Show is the page of a cluster's log: its end, a page before or after a line, or the lines around one.
func (p *logs) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	c := Logs{Now: p.Now(), View: v, Tabs: p.ClusterTabs(a, v, "logs")}
	status := http.StatusOK
	var f appcluster.LogFilter
	if c.Query, f, err = logQuery(q); err == nil {
		err = p.read(r.Context(), a, &c, f, q)
	}
	if e := app.AsError(err); err != nil && (e.Code != app.EInvalid || e.Field == "") {
		return err
	} else if err != nil {
		c.Complaint, status = page.Complaint{Message: e.Message, Hint: e.Hint}, http.StatusUnprocessableEntity
	}
	frame := p.ClusterFrame(r, "Log of "+v.Name)
	p.Render(w, r, status, LogsPage(frame, c))
	return nil
}

func (p *logs) read(ctx context.Context, a app.Actor, c *Logs, f appcluster.LogFilter, q url.Values) error {
	var before, after int64
	var err error
	for name, to := range map[string]*int64{"line": &c.Line, "before": &before, "after": &after} {
		if *to, err = lineNumber(q, name); err != nil {
			return err
		}
	}
	search := func(f appcluster.LogFilter) (activity.LogPage, error) {
		return p.Feed.SearchLogs(ctx, a, c.View.ID, f)
	}
	switch {
	case c.Line > 0: // the lines around it, whatever their text
		f.Text, c.Query.Text = "", ""
		back := f
		back.Tail, back.Before, back.Limit = true, c.Line+1, logContext
		earlier, err := search(back)
		if err != nil {
			return err
		}
		f.After, f.Limit = c.Line, logContext
		later, err := search(f)
		if err != nil {
			return err
		}
		c.Lines, c.Earlier, c.Later = append(earlier.Lines, later.Lines...), earlier.Next, later.Next
		c.Missing = len(earlier.Lines) == 0 || earlier.Lines[len(earlier.Lines)-1].Seq != c.Line
		return nil
	case after > 0:
		f.After, f.Limit = after, LogLines
		found, err := search(f)
		c.Lines, c.Later, c.Earlier = found.Lines, found.Next, after+1
		c.Live = found.Next == 0
		return err
	}
	f.Tail, f.Before, f.Limit = true, before, LogLines
	found, err := search(f)
	c.Lines, c.Earlier, c.Live = found.Lines, found.Next, before == 0
	if before > 0 && len(found.Lines) > 0 {
		c.Later = found.Lines[len(found.Lines)-1].Seq
	} else if before > 0 {
		c.Later = before - 1
	}
	return err
}

// Download sends a log as text.
func (p *logs) Download(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	_, f, err := logQuery(r.URL.Query())
	if err != nil {
		return err
	}
	f.Limit = 5000
	first, err := p.Feed.SearchLogs(r.Context(), a, v.ID, f)
	if err != nil {
		return err
	}
	name := "muster-" + safeName(v.ID)
	if f.Operation != 0 {
		name += "-" + strconv.FormatInt(f.Operation, 10)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.log"`)
	rc, out := http.NewResponseController(w), bufio.NewWriterSize(w, 32<<10)
	for found := first; ; {
		_ = rc.SetWriteDeadline(time.Now().Add(site.StreamWrite))
		for _, l := range found.Lines {
			fmt.Fprintf(out, "%s %s %s | %s\n", l.At.UTC().Format(time.RFC3339), l.Step, l.Stream, l.Text)
		}
		if err := out.Flush(); err != nil || found.Next == 0 || r.Context().Err() != nil {
			return nil //nolint:nilerr // the client has disconnected, or has everything
		}
		f.After = found.Next
		if found, err = p.Feed.SearchLogs(r.Context(), a, v.ID, f); err != nil {
			p.Log.WarnContext(r.Context(), "log download", "error", err, "cluster", v.ID)
			fmt.Fprintln(out, "Incomplete: the rest of the log couldn't be read. Try again.")
			_ = out.Flush()
			return nil
		}
	}
}
