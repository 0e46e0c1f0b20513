package gcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"reflect"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	server := record(t)
	for name, c := range map[string]struct {
		status int
		answer string
		want   Error
	}{
		"the API's": {403, `{"error":{"code":403,"message":"no","errors":[{"message":"no","domain":"global","reason":"forbidden"},{"reason":"other"}]}}`,
			Error{Status: 403, Message: "no", Reason: "forbidden"}},
		"the newer form": {403, `{"error":{"message":"no","details":["x",{"reason":7},{"@type":"y"},{"reason":"RATE_LIMIT"},{"reason":"z"}]}}`,
			Error{Status: 403, Message: "no", Detail: "RATE_LIMIT"}},
		"a list of one":        {404, `[{"error":{"message":"gone","errors":[{"reason":"notFound"}]}}]`, Error{Status: 404, Message: "gone", Reason: "notFound"}},
		"a page of a proxy":    {404, "<html>not here</html>", Error{Status: 404}},
		"nothing":              {502, "", Error{Status: 502}},
		"JSON of another kind": {401, `{"error":"invalid_grant","error_description":"x"}`, Error{Status: 401}},
		"a redirect":           {304, "", Error{Status: 304}},
		"a very long one":      {500, `{"error":{"message":"` + strings.Repeat("x", maxRefusal) + `"}}`, Error{Status: 500}},
	} {
		server.status, server.answer = c.status, c.answer
		_, err := server.client().Instance(t.Context(), "p", "z", "i")
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%s is %v", name, err)
			continue
		}
		if got.Header.Get("Date") == "" || got.Error() == "" {
			t.Errorf("%s lacks its header or its message: %+v", name, got)
		}
		got.Header = nil
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s is %+v, want %+v", name, *got, c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	server := record(t)
	server.answer = `{"kind":"compute#region","name":"r","unknown":{"a":[1]},` +
		`"quotas":[{"metric":"A","limit":24.5,"usage":1e3},{"metric":"B","limit":"Infinity","usage":null}]}`
	r, err := server.client().Region(t.Context(), "p", "r")
	want := &Region{Name: "r", Quotas: []*Quota{{"A", 24.5, 1000}, {"B", Double(math.Inf(1)), 0}}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, %v", r, err)
	}
	server.answer = `{"id":"18446744073709551615","metadata":{"items":[{"key":"k","value":""}]},"scheduling":{"automaticRestart":false}}`
	i, err := server.client().Instance(t.Context(), "p", "z", "i")
	if err != nil || i.ID != math.MaxUint64 || *i.Metadata.Items[0].Value != "" || *i.Scheduling.AutomaticRestart {
		t.Errorf("%+v, %v", i, err)
	}
	for _, broken := range []string{"", `{"name":`, "[]", `{"quotas":[{"limit":"many"}]}`, "<html>"} {
		server.answer = broken
		if r, err := server.client().Region(t.Context(), "p", "r"); err == nil {
			t.Errorf("%q is understood as %+v", broken, r)
		}
	}
	server.answer, server.status = "", http.StatusNoContent
	if err := server.client().DeleteRecordSet(t.Context(), "p", "m", "x.", "A"); err != nil {
		t.Error(err)
	}
}

func TestEndlessResponse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		space := strings.Repeat(" ", 1<<20)
		for range maxAnswer>>20 + 8 {
			if _, err := io.WriteString(w, space); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	if _, err := New(server.Client(), server.URL, "").Zone(t.Context(), "p", "z"); err == nil || !strings.Contains(err.Error(), "exceeds 64 MB") {
		t.Error(err)
	}
}

func TestPages(t *testing.T) {
	var asked []string
	last := 3
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := r.URL.Query().Get("pageToken"); len(asked) < 5 {
			asked = append(asked, token+" "+r.URL.Query().Get("maxResults"))
		}
		page := ZoneList{Items: []*Zone{{Name: "z"}}}
		if last--; last != 0 {
			page.NextPageToken = "a/b&c"
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	defer server.Close()
	c := New(server.Client(), server.URL, "")
	n := 0
	if err := c.Zones(t.Context(), "p", func(page *ZoneList) error { n += len(page.Items); return nil }); err != nil || n != 3 {
		t.Errorf("%d zones, %v", n, err)
	}
	if want := "[ 500 a/b&c 500 a/b&c 500]"; fmt.Sprint(asked) != want {
		t.Errorf("asked for %v, want %s", asked, want)
	}
	stop := errors.New("stop")
	last, n = 3, 0
	if err := c.Zones(t.Context(), "p", func(*ZoneList) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%d pages, %v", n, err)
	}
	last, n = 0, 0
	if err := c.Zones(t.Context(), "p", func(*ZoneList) error { n++; return nil }); err == nil || n != maxPages {
		t.Errorf("%d pages, %v", n, err)
	}
}

// One connection serves calls one after another, also those that are refused, and no call is sent twice.
func TestConnections(t *testing.T) {
	server := record(t)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if i.Reused == (server.calls == 0) {
			t.Errorf("call %d has a connection that is new or not: %+v", server.calls, i)
		}
	}})
	c := server.client()
	for n := range 6 {
		server.status = []int{200, 503, 429}[n%3]
		_, _ = c.InsertInstance(ctx, "p", "z", wholeInstance, "r-1")
		_, _ = c.Instance(ctx, "p", "z", "i")
	}
	if server.calls != 12 {
		t.Errorf("%d requests for 12 calls", server.calls)
	}
}
