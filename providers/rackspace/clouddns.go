package rackspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"muster/app"
	"muster/providers/internal/account"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/records"
)

// cloudDNS speaks to Cloud DNS, of which the SDK knows nothing, with a session's token. Every change is a job there, which is waited for.
type cloudDNS struct {
	api  *gophercloud.ServiceClient
	pace stack.Pace
}

// record is one of Cloud DNS, which knows no sets: each has one value.
type record struct {
	ID      string `json:"id,omitempty"`
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"` // not said of one that is changed
	Data    string `json:"data"`
	TTL     int    `json:"ttl"` // s
	Comment string `json:"comment,omitempty"`
}

// number is an id that is written as a number or as text, and both in the same documentation.
type number string

func (n *number) UnmarshalJSON(b []byte) error { *n = number(strings.Trim(string(b), `"`)); return nil }

// domain returns the id of one of the account's domains; "" where there is none by that name.
func (d cloudDNS) domain(ctx context.Context, name string) (string, error) {
	var in struct {
		Domains []struct {
			ID   number
			Name string
		}
	}
	if err := d.call(ctx, http.MethodGet, d.at(url.Values{"name": {name}}, "domains"), nil, &in); err != nil {
		return "", err
	}
	for _, one := range in.Domains {
		if records.Plain(one.Name) == name {
			return string(one.ID), nil
		}
	}
	return "", nil
}

// maxRecords returns how many records the account may have in a domain; -1 if unknown.
func (d cloudDNS) maxRecords(ctx context.Context) (int, error) {
	var in struct {
		Absolute struct {
			Limit []struct {
				Name  string
				Value int
			}
		}
	}
	err := d.call(ctx, http.MethodGet, d.at(nil, "limits"), nil, &in)
	for _, l := range in.Absolute.Limit {
		if l.Name == "records per domain" {
			return l.Value, err
		}
	}
	return -1, err
}

// records returns all records of a domain. They are not searched for: a search by a name with an underscore in it finds nothing, and that is the form
// of our claims.
func (d cloudDNS) records(ctx context.Context, domain string) ([]record, error) {
	var in struct {
		Records []record
		Links   []struct{ Rel string }
		Total   int `json:"totalEntries"`
	}
	for range 5 {
		var all []record
		total, more, same := 0, true, true
		for pages := 0; more && same; pages++ {
			if pages == account.MaxPages {
				return nil, account.EndlessList("Cloud DNS")
			}
			in.Records, in.Links = nil, nil
			// Without a limit of ours: what came so far is then a multiple of theirs, as an offset must be.
			if err := d.call(ctx, http.MethodGet, d.at(url.Values{"offset": {strconv.Itoa(len(all))}}, "domains", domain, "records"), nil, &in); err != nil {
				return nil, err
			}
			same, total = len(all) == 0 || in.Total == total, in.Total
			all = append(all, in.Records...)
			more = len(in.Records) > 0 && slices.ContainsFunc(in.Links, func(l struct{ Rel string }) bool { return l.Rel == "next" })
		}
		if same {
			return all, nil
		}
	}
	return nil, app.Errorf(app.ETransient, "the DNS domain's records change faster than they can be read")
}

// add makes a record, and returns it as created; nil where Cloud DNS does not tell.
func (d cloudDNS) add(ctx context.Context, domain string, r record) ([]record, error) {
	return d.change(ctx, http.MethodPost, d.at(nil, "domains", domain, "records"), map[string]any{"records": []record{r}})
}

// update has a record have another value. Nothing but that, the TTL and the comment can be changed.
func (d cloudDNS) update(ctx context.Context, domain string, r record) error {
	id := r.ID
	r.ID, r.Type = "", ""
	_, err := d.change(ctx, http.MethodPut, d.at(nil, "domains", domain, "records", id), r)
	return err
}

// remove deletes a record; one that is not there is success.
func (d cloudDNS) remove(ctx context.Context, domain, id string) error {
	_, err := d.change(ctx, http.MethodDelete, d.at(url.Values{"id": {id}}, "domains", domain, "records"), nil)
	if stack.Absent(err) {
		return nil
	}
	return err
}

// job is a change that Cloud DNS works on.
type job struct {
	ID       string `json:"jobId"`
	Status   string // INITIALIZED, RUNNING, COMPLETED or ERROR
	Error    fault
	Response struct{ Records []record }
}

// change asks for a change and waits for its end.
func (d cloudDNS) change(ctx context.Context, method, at string, body any) ([]record, error) {
	var j job
	if err := d.call(ctx, method, at, body, &j); err != nil {
		return nil, err
	}
	done, err := d.pace.Until(ctx, func() (bool, error) {
		if j.Status == "INITIALIZED" || j.Status == "RUNNING" {
			id := j.ID
			j = job{}
			if err := d.call(ctx, http.MethodGet, d.at(url.Values{"showDetails": {"true"}}, "status", id), nil, &j); err != nil {
				if stack.Absent(err) { // the job is not there, which says nothing of what it was about
					err = app.Errorf(app.ETransient, "Cloud DNS job %s doesn't exist", id)
				}
				return false, err
			}
			j.ID = id
		}
		switch j.Status {
		case "COMPLETED":
			return true, nil
		case "ERROR":
			return false, j.Error.coded()
		case "INITIALIZED", "RUNNING":
			return false, nil
		}
		return false, app.Errorf(app.ETransient, "Cloud DNS reports an unknown job status: %q", j.Status)
	})
	if err == nil && !done {
		err = app.Errorf(app.ETimeout, "Cloud DNS is still changing records in job %s", j.ID)
	}
	return j.Response.Records, err
}

func (d cloudDNS) at(query url.Values, parts ...string) string {
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	at := d.api.ServiceURL(parts...)
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at
}

func (d cloudDNS) call(ctx context.Context, method, at string, body, out any) error {
	options := &gophercloud.RequestOpts{JSONBody: body, JSONResponse: out, OkCodes: []int{http.StatusOK, http.StatusAccepted}}
	_, err := d.api.Request(ctx, method, at, options) //nolint:bodyclose // Request closes it unless KeepResponseBody is set
	var status gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &status) || stack.Expired(err) { // a refused token is for the session to see
		return err
	}
	var f fault
	_ = json.Unmarshal(status.Body, &f)
	e := *app.AsError(stack.Coded(err))
	if e.Code == app.ERateLimit && e.RetryAfter == 0 {
		// Its documentation calls the header Reply-After, and has a date in it.
		if until, err := time.Parse(time.RFC3339, cmp.Or(status.ResponseHeader.Get("Retry-After"), status.ResponseHeader.Get("Reply-After"))); err == nil {
			e.RetryAfter = min(max(time.Until(until), 0), time.Hour)
		}
	}
	return f.say(e)
}

// fault is how Cloud DNS says no, at once or as the end of a job.
type fault struct {
	Code    int
	Message string
	Details string
	Invalid struct{ Messages []string } `json:"validationErrors"`
	Failed  struct{ Faults []fault }    `json:"failedItems"` // of several that were to be deleted
}

// coded returns the end of a job its code.
func (f fault) coded() error {
	if len(f.Failed.Faults) > 0 {
		return f.Failed.Faults[0].coded() // never more than one is deleted at once
	}
	e := account.Status(f.Code, nil, "")
	if f.Code == http.StatusRequestEntityTooLarge {
		e.Code = app.ERateLimit
	}
	return f.say(*e)
}

const hintRecords = "Delete unused records, choose another domain, or ask Rackspace for a higher limit."

// say has an error say all that Cloud DNS said. Too many records and too many calls have the same status, and differ in the words.
func (f fault) say(e app.Error) *app.Error {
	said := slices.DeleteFunc(append([]string{f.Message, f.Details}, f.Invalid.Messages...), func(s string) bool { return s == "" })
	if len(said) > 0 {
		e.Message = "Cloud DNS: " + strings.Join(said, " ")
	}
	if e.Code == app.ERateLimit && strings.Contains(strings.ToLower(f.Details), "limit of") {
		e.Code, e.RetryAfter, e.Hint = app.EQuota, 0, hintRecords
	}
	return &e
}
