package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

const eventBatch = 1000

type eventListInput struct {
	site.IDInput
	After       int64  `query:"after" minimum:"0" doc:"Only events after this number"`
	Wait        int    `query:"wait" minimum:"0" maximum:"30" doc:"Seconds to wait for an event if there is none"`
	Accept      string `header:"Accept" hidden:"true"`
	LastEventID string `header:"Last-Event-ID" doc:"Like after; clients send it when they reconnect to a stream"`
}

type EventList struct {
	Events []app.Event `json:"events"`
}

// events are the events of a cluster, for programs.
type events struct {
	*site.Site
}

func (p *events) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/events", p.APIList, site.About("Follow the events of a cluster"), site.Streaming),
	}
}

func (p *events) routes() []site.Route { return nil }

// APIList returns events as a list, after the requested wait, or as a stream.
func (p *events) APIList(ctx context.Context, in *eventListInput) (*huma.StreamResponse, error) {
	a := site.Caller(ctx)
	streamed := strings.Contains(in.Accept, "text/event-stream")
	after := in.After
	if streamed && in.LastEventID != "" {
		n, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || n < 0 {
			return nil, p.Fail(ctx, &app.Error{Code: app.EInvalid, Message: "Last-Event-ID must be an event number.", Field: "Last-Event-ID"})
		}
		after = n
	}
	end, changed := func() {}, (<-chan struct{})(nil)
	if streamed || in.Wait > 0 {
		free, err := p.Streams.TakeAsk(a)
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		woken, stop := p.Feed.Watch(a, app.ClusterTopic(in.ID))
		end, changed = func() { stop(); free() }, woken
	}

	first, err := p.after(ctx, a, in.ID, after)
	if err == nil && !streamed && len(first) == 0 && in.Wait > 0 {
		first, err = p.await(ctx, a, in.ID, after, time.Duration(in.Wait)*time.Second, changed)
	}
	if err != nil {
		end()
		return nil, p.Fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer end()
		_, w := humachi.Unwrap(hc)
		if !streamed {
			w.Header().Set("Content-Type", "application/json")
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(site.StreamWrite))
			_ = json.NewEncoder(w).Encode(EventList{site.OrEmpty(first)})
			return
		}
		if err := p.stream(hc.Context(), w, a, in.ID, after, first, changed); err != nil {
			p.Log.DebugContext(hc.Context(), "event stream ended", "error", err, "cluster", in.ID)
		}
	}}, nil
}

func (p *events) after(ctx context.Context, a app.Actor, id string, after int64) ([]app.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, site.RequestTime)
	defer cancel()
	if err := site.Still(ctx); err != nil {
		return nil, err
	}
	return p.Feed.Events(ctx, a, id, after, eventBatch)
}

// await waits for events. It returns none when the time is over or the portal shuts down.
func (p *events) await(ctx context.Context, a app.Actor, id string, after int64, d time.Duration, changed <-chan struct{}) ([]app.Event, error) {
	over := time.NewTimer(min(d, site.PollTime))
	defer over.Stop()
	look := time.NewTicker(site.StreamLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.Closing:
			return nil, nil
		case <-over.C:
			return nil, nil
		case <-changed:
		case <-look.C:
		}
		if events, err := p.after(ctx, a, id, after); err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// stream sends events until the client disconnects or the portal shuts down.
func (p *events) stream(ctx context.Context, w http.ResponseWriter, a app.Actor, id string, after int64, events []app.Event, changed <-chan struct{}) error {
	out, err := site.OpenStream(w, p.Meter)
	if err != nil {
		return err
	}
	look := time.NewTicker(site.StreamLook)
	defer look.Stop()
	for {
		for _, e := range events {
			b, err := json.Marshal(e)
			if err != nil {
				return err
			}
			out.Add(strconv.FormatInt(e.Seq, 10), "", b)
			after = max(after, e.Seq)
		}
		out.Ping()
		if err := out.Flush(); err != nil {
			return err
		}
		if len(events) < eventBatch {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-p.Closing:
				return http.ErrServerClosed
			case <-changed:
			case <-look.C:
			}
		}
		if events, err = p.after(ctx, a, id, after); err != nil {
			return err
		}
	}
}
