package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/webhook"
)

// Bounds of asking about requests.
const (
	maxAnswer   = 16 << 10         // bytes of a body
	answerTime  = 30 * time.Second // for which previews take an answer that is there
	failureTime = 10 * time.Second // for which previews don't ask a hook again that didn't answer
	maxAnswers  = 1000             // that are kept
)

// RequestHookStore is what Asker needs of the database.
type RequestHookStore interface {
	RequestHooks(ctx context.Context, tenant string, now time.Time) ([]webhook.RequestHook, error)
}

// AskerConfig is what Asker is created from.
type AskerConfig struct {
	Store  RequestHookStore
	Sender *Sender
	Log    *slog.Logger
	Now    func() time.Time
}

// Asker asks tenants' webhooks about requests. It may be used from many goroutines.
type Asker struct {
	AskerConfig

	mu   sync.Mutex
	kept map[[sha256.Size]byte]keptAnswer
}

type keptAnswer struct {
	answer policy.WebhookAnswer
	from   time.Time
	until  time.Time
}

var _ policy.Webhooks = (*Asker)(nil)

// NewAsker returns an asker.
func NewAsker(c AskerConfig) *Asker {
	return &Asker{AskerConfig: c, kept: map[[sha256.Size]byte]keptAnswer{}}
}

// AskAbout asks all at the same time.
func (a *Asker) AskAbout(ctx context.Context, q policy.WebhookQuestion) ([]policy.WebhookAnswer, error) {
	now := a.Now()
	hooks, err := a.Store.RequestHooks(ctx, q.Facts.Tenant, now)
	if err != nil {
		return nil, err
	}
	hooks = slices.DeleteFunc(hooks, func(h webhook.RequestHook) bool { return !h.Wants(q.Facts.Kind) })
	answers := make([]policy.WebhookAnswer, len(hooks))
	var all sync.WaitGroup
	for i, h := range hooks {
		all.Go(func() { answers[i] = a.ask(ctx, h, q, now) })
	}
	all.Wait()
	return answers, ctx.Err()
}

// requestEvent is what a hook is sent.
type requestEvent struct {
	Type      string      `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Data      requestData `json:"data"`
}

type requestData struct {
	Hook    string          `json:"hook"`
	DryRun  bool            `json:"dry_run"`
	Request policy.Input    `json:"request"`
	Changes []policy.Change `json:"changes"`
}

// ask returns a hook's answer, for previews one that is kept.
func (a *Asker) ask(ctx context.Context, h webhook.RequestHook, q policy.WebhookQuestion, now time.Time) policy.WebhookAnswer {
	e := requestEvent{Type: "request.check", Data: requestData{Hook: h.Name, Request: q.Facts, Changes: q.Changes}}
	e.Data.Request.Now = time.Time{}
	if e.Data.Changes == nil {
		e.Data.Changes = []policy.Change{}
	}
	for _, list := range []*[]string{&e.Data.Request.Groups, &e.Data.Request.Services, &e.Data.Request.Hardware} {
		*list = orNone(*list)
	}
	same := fmt.Sprintf("%d %d %d ", h.ID, h.ChangedAt.UnixMicro(), h.SecretAt.UnixMicro())
	asked, err := json.Marshal(e)
	if err != nil {
		return unanswered(h, "the question can't be encoded")
	}
	content, hook := sha256.Sum256(append([]byte(same), asked...)), sha256.Sum256([]byte(same))
	if q.DryRun {
		for _, key := range [][sha256.Size]byte{content, hook} {
			if answer, ok := a.keptAnswer(key, now); ok {
				return answer
			}
		}
	}
	e.Timestamp, e.Data.Request.Now, e.Data.DryRun = now, q.Facts.Now, q.DryRun
	answer, why := a.call(ctx, h, e)
	switch {
	case why == nil:
		a.keep(content, answer, now, answerTime)
	case ctx.Err() == nil:
		a.Log.Warn("a webhook didn't answer about a request", "tenant", h.Tenant, "webhook", h.Name, "error", why)
		answer = unanswered(h, why.Error())
		a.keep(hook, answer, now, failureTime)
	}
	return answer
}

// call sends the question. The error says to the requester why there is no answer, without the hook's address.
func (a *Asker) call(ctx context.Context, h webhook.RequestHook, e requestEvent) (policy.WebhookAnswer, error) {
	if h.State == webhook.HookStopped {
		return policy.WebhookAnswer{}, errors.New("it was stopped because it had failed too often")
	}
	body, err := json.Marshal(e)
	if err != nil {
		return policy.WebhookAnswer{}, err
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, h.Patience())
	defer cancel()
	said, failed := a.Sender.Send(ctx, Message{ID: "req_" + strings.ToLower(rand.Text()), URL: h.Address, Body: body, Secrets: h.Secrets})
	switch reason := veto(said); {
	case whole.Err() != nil:
		return policy.WebhookAnswer{}, whole.Err()
	case reason != "":
		return policy.WebhookAnswer{Webhook: h.Name, Refused: true, Reason: sentence(reason)}, nil
	case said.Status == 0 && (ctx.Err() != nil || failed != nil && failed.Code == app.ETimeout):
		return policy.WebhookAnswer{}, fmt.Errorf("it didn't respond within %s", humanize.Exact(h.Patience()))
	case failed != nil && failed.Code == app.EForbidden:
		return policy.WebhookAnswer{}, errors.New("its address isn't allowed")
	case said.Status == 0:
		return policy.WebhookAnswer{}, errors.New("it can't be reached")
	case failed != nil:
		return policy.WebhookAnswer{}, fmt.Errorf("it responded %s", strings.TrimSpace(strconv.Itoa(said.Status)+" "+http.StatusText(said.Status)))
	case ctx.Err() != nil:
		return policy.WebhookAnswer{}, fmt.Errorf("it didn't respond within %s", humanize.Exact(h.Patience()))
	}
	return readAnswer(h.Name, said.body)
}

// requestAnswer is what a hook may answer. Nothing at all allows the request.
type requestAnswer struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Set      struct {
		Size     int            `json:"size"`
		Hardware oneOrMore      `json:"hardware"`
		Provider oneOrMore      `json:"provider"`
		Lease    answerDuration `json:"lease"`

		Labels map[string]string `json:"labels"`
	} `json:"set"`
	Approval *answerApproval `json:"approval"`
}

type answerApproval struct {
	Count       int            `json:"count"`
	Group       string         `json:"group"`
	Role        app.Role       `json:"role"`
	High        bool           `json:"high"`
	ExpireAfter answerDuration `json:"expire_after"`
}

// oneOrMore is a text, or a list of texts.
type oneOrMore []string

func (l *oneOrMore) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// answerDuration is a duration as people write it: 8h, 3d.
type answerDuration time.Duration

func (d *answerDuration) UnmarshalText(text []byte) error {
	n, err := template.ParseLength(string(text))
	*d = answerDuration(n)
	return err
}

// readAnswer reads the body of an answer, and refuses one that it can't understand as a whole.
func readAnswer(hook string, body []byte) (policy.WebhookAnswer, error) {
	answer := policy.WebhookAnswer{Webhook: hook}
	if len(body) > maxAnswer {
		return answer, fmt.Errorf("its response is larger than %s", humanize.Bytes(maxAnswer))
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return answer, nil
	}
	var said requestAnswer
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return answer, fmt.Errorf("its response isn't valid: %s", clip(err.Error()))
	}
	if _, err := d.Token(); err != io.EOF {
		return answer, errors.New("its response isn't valid: there is text after the JSON")
	}
	answer.Reason = sentence(short(oneLine(said.Reason), longestReason))
	switch said.Decision {
	case "refuse":
		if answer.Refused = true; answer.Reason == "" {
			answer.Reason = "It gave no reason."
		}
		return answer, nil
	case "allow", "":
	default:
		return answer, fmt.Errorf("its response isn't valid: decision must be allow or refuse, not %.40q", said.Decision)
	}
	answer.Set = policy.Values{Size: said.Set.Size, Hardware: said.Set.Hardware, Provider: said.Set.Provider, Lease: time.Duration(said.Set.Lease),
		Labels: said.Set.Labels}
	if err := answer.Set.Check(); err != nil {
		return answer, fmt.Errorf("its response isn't valid: %s", clip(app.AsError(err).Message))
	}
	if p := said.Approval; p != nil {
		answer.Approval = &policy.Approval{Count: max(p.Count, 1), Group: p.Group, Role: p.Role, High: p.High, ExpireAfter: time.Duration(p.ExpireAfter)}
		if err := answer.Approval.Check(); err != nil {
			return answer, fmt.Errorf("its response isn't valid: %s", clip(app.AsError(err).Message))
		}
	}
	return answer, nil
}

// unanswered is what happens where a hook didn't answer.
func unanswered(h webhook.RequestHook, why string) policy.WebhookAnswer {
	if h.OnTimeout == template.HookContinue {
		return policy.WebhookAnswer{Webhook: h.Name, Ignored: sentence("Ignored, because " + why)}
	}
	return policy.WebhookAnswer{Webhook: h.Name, Refused: true, Reason: fmt.Sprintf("Webhook %s couldn't be asked, so the request is refused: %s.", h.Name, why)}
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

func (a *Asker) keptAnswer(key [sha256.Size]byte, now time.Time) (policy.WebhookAnswer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.kept[key]
	return k.answer, ok && !now.Before(k.from) && now.Before(k.until)
}

func (a *Asker) keep(key [sha256.Size]byte, answer policy.WebhookAnswer, now time.Time, long time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) >= maxAnswers {
		clear(a.kept)
	}
	a.kept[key] = keptAnswer{answer, now, now.Add(long)}
}
