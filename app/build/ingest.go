package build

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/webhook"
)

// IntakeStore keeps deliveries and what they bring about.
type IntakeStore interface {
	BuildDeliveries(ctx context.Context, tenant string, hook string, before int64, limit int) ([]DeliveryRecord, error)
	// Delivery returns one with its body, and what makes it the same.
	BuildDelivery(ctx context.Context, tenant, hook string, id int64) (d DeliveryRecord, uniq string, err error)
	BuildHook(ctx context.Context, tenant string, name string) (BuildHook, error)
	// BuildHookAt returns the hook of an address with the secrets that count now, the newest first; ENotFound where there is none.
	BuildHookAt(ctx context.Context, id string, now time.Time) (h BuildHook, secrets []string, err error)
	// BuildTokenKey returns what tokens of a hook's builds are made from.
	BuildTokenKey(ctx context.Context, id string) ([]byte, error)
	// NoteDeliveryRefused notes why a delivery was not taken, at most once in ten seconds for each hook.
	NoteDeliveryRefused(ctx context.Context, id, why string, now time.Time) error
	// NoteDeliveryOutcome writes what happened to a delivery later: Outcome and Words.
	NoteDeliveryOutcome(ctx context.Context, d DeliveryRecord) error
	AddAuditEntry(ctx context.Context, d app.AuditEntry) error
	// IngestBuild does what an order says, and keeps the delivery. EConflict, reason "replayed", where there was one with the same Uniq;
	// ENotFound where the hook is gone.
	IngestBuild(ctx context.Context, o IngestOrder) (IngestResult, error)
}

// IntakeConfig is what Intake is created from. Only what says so may be nil.
type IntakeConfig struct {
	Store      IntakeStore
	Now        func() time.Time
	BuildRules RuleEngine
	// Systems understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Systems  Systems
	Creates  *cluster.Creates
	Webhooks *webhook.Service

	Builds *Builds
	Hooks  *Hooks
}

// Intake takes what build systems send, and tries what would become of it.
type Intake struct {
	IntakeConfig
}

// NewIntake returns one on top of what c holds.
func NewIntake(c IntakeConfig) *Intake { return &Intake{IntakeConfig: c} }

// Outcome is what happened to a delivery.
type Outcome string

// DeliveryRecord is what is kept of a delivery that was signed right.
type DeliveryRecord struct {
	ID      int64     `json:"id"`
	Hook    string    `json:"hook"`
	At      time.Time `json:"at"`
	SentAt  time.Time `json:"sent_at,omitzero"` // as signed
	From    string    `json:"from,omitempty"`
	Number  string    `json:"number,omitempty"` // the sender's own
	System  string    `json:"system"`
	Event   string    `json:"event"`
	Action  string    `json:"action,omitempty"`
	Build   string    `json:"build,omitempty"`
	Job     string    `json:"job,omitempty"`
	Outcome Outcome   `json:"outcome"`
	Message string    `json:"message,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	BuildID int64     `json:"build_id,omitempty"` // the build that it is about
	Replays int       `json:"replays,omitempty"`
	Size    int       `json:"size"`           // of the body, in bytes
	Body    string    `json:"body,omitempty"` // only of a single one
}

// IngestOrder is what a delivery is to bring about, as the store takes it. All of it happens in one transaction, once for each Uniq.
type IngestOrder struct {
	Hook     BuildHook
	Who      app.Actor
	Delivery DeliveryRecord
	Uniq     string // digest of Delivery.Unique
	Body     []byte
	Replay   int64 // the kept delivery that is run again; 0: it is a new one
	Event    app.BuildEvent
	Ends     []End
	// Begin is nil where nothing is to begin.
	Begin *Start
	// Extend asks for the build of this key; "" for none.
	Extend string
	Now    time.Time
}

// End says which builds of a hook end: those of a build, or the one of a key.
type End struct {
	Build string
	Key   string
	// Lasting says that what comes later of it begins nothing any more, unless it is of another run: newer than At. At is zero where that
	// isn't reported.
	Lasting bool
	At      time.Time
}

// Start is a build that wants a cluster.
type Start struct {
	Rule  Rule
	Key   string
	Ask   Spec
	Again bool // one that is over may come again, unless its end was reported
	// Reopened says that what was reported of its end holds no more.
	Reopened bool
	Call     Call
	// NewestJobAt begins again what has ended before then.
	NewestJobAt time.Time
}

// IngestResult is what an order brought about.
type IngestResult struct {
	Delivery DeliveryRecord
	Build    *Build // that it is about; nil for none
}

// The outcomes.
const (
	OutcomeStarted    Outcome = "started"    // a build waits for its cluster now
	OutcomeDuplicate  Outcome = "duplicate"  // the build has one, or had
	OutcomeEnded      Outcome = "ended"      // builds were ended
	OutcomeExtended   Outcome = "extended"   // the lease was moved
	OutcomeIgnored    Outcome = "nothing"    // no rule matched, or it says so
	OutcomeRefused    Outcome = "refused"    // a rule matched, but it cannot be done
	OutcomeUnreadable Outcome = "unreadable" // the body is not what the system sends
)

// IntakeResponse is what the sender of a delivery gets back.
type IntakeResponse struct {
	Delivery int64          `json:"delivery"`
	Outcome  Outcome        `json:"outcome"`
	Message  string         `json:"message,omitempty"`
	Build    int64          `json:"build,omitempty"`
	State    app.BuildState `json:"state,omitempty"`
	// URL is where the build is to be looked at, which the face fills in; Token opens it, and nothing else, until the build has ended.
	URL   string `json:"url,omitempty"`
	Token string `json:"token,omitempty"`
}

// Errors of deliveries that say no more than they must.
var errBuildSigned = &app.Error{Code: app.EUnauthorized, Reason: "signature", Message: "The hook doesn't exist, or the signature is missing, wrong or too old.",
	Hint: "Admins can see why on the hook's page."}

// dummySecret represents hooks that are not there, so that their deliveries take as long to be refused as others.
const dummySecret = "whsec_bm9ib2R5IGlzIGhlcmUsIG5vYm9keSBhdCBhbGwgaGVyZQ=="

// IngestBuild takes what was sent to a hook's address, on behalf of no one: what it may do is what the hook's owner may. header returns the
// first value of a header. EUnauthorized where the hook is not known or the signature is not right, the same for both; EConflict, reason
// "replayed", where it was taken before; EInvalid where the body is not what the system sends; EForbidden where the hook is switched off.
func (a *Intake) IngestBuild(ctx context.Context, id string, header func(string) string, body []byte, from string) (IntakeResponse, error) {
	now := a.Now()
	if len(body) > MaxBuildBody {
		return IntakeResponse{}, &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf("A delivery must be at most %d bytes.", MaxBuildBody)}
	}
	if a.Systems == nil || a.BuildRules == nil {
		return IntakeResponse{}, errBuildSigned
	}
	h, secrets, err := a.Store.BuildHookAt(ctx, id, now)
	if app.CodeOf(err) == app.ENotFound {
		for _, s := range a.Systems.Systems() {
			_, _ = a.Systems.Verify(s.Name, header, body, []string{dummySecret}, now)
			break
		}
		return IntakeResponse{}, errBuildSigned
	}
	if err != nil {
		return IntakeResponse{}, err
	}
	d, err := a.Systems.Verify(h.System, header, body, secrets, now)
	if err != nil {
		if err := a.Store.NoteDeliveryRefused(ctx, id, senderWord(app.AsError(err).Advised()), now); err != nil {
			return IntakeResponse{}, err
		}
		return IntakeResponse{}, errBuildSigned
	}
	order, err := a.buildOrder(ctx, h, d, now)
	var unread *app.Error
	if errors.As(err, &unread) && unread.Code == app.EInvalid {
		order.Delivery.Outcome, order.Delivery.Message = OutcomeUnreadable, unread.ForPeople()
	} else if err != nil {
		return IntakeResponse{}, err
	}
	order.Delivery.From = from
	done, took := a.Store.IngestBuild(ctx, order)
	if took != nil {
		return IntakeResponse{}, took
	}
	a.extendFor(ctx, order, &done)
	if err != nil {
		return IntakeResponse{}, err
	}
	return a.buildReceipt(ctx, h, done)
}

func (a *Intake) buildReceipt(ctx context.Context, h BuildHook, done IngestResult) (IntakeResponse, error) {
	r := IntakeResponse{Delivery: done.Delivery.ID, Outcome: done.Delivery.Outcome, Message: done.Delivery.Message}
	if b := done.Build; b != nil {
		r.Build, r.State = b.ID, b.Shown().State
		if b.State.Live() {
			key, err := a.Store.BuildTokenKey(ctx, h.ID)
			if err != nil {
				return r, err
			}
			r.Token = buildToken(key, b.ID)
		}
	}
	return r, nil
}

// buildToken opens one build. It follows from the hook's own key, so that everyone who signs for a build is given the same.
func buildToken(key []byte, id int64) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("build " + strconv.FormatInt(id, 10)))
	return "mbt_" + base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// buildOrder works out what a delivery is to bring about. Where it cannot be read the order says at least what is kept of it.
func (a *Intake) buildOrder(ctx context.Context, h BuildHook, d Delivery, now time.Time) (IngestOrder, error) {
	sum := sha256.Sum256([]byte(d.Unique))
	o := IngestOrder{Hook: h, Uniq: hex.EncodeToString(sum[:]), Body: d.Body, Now: now,
		Delivery: DeliveryRecord{Hook: h.Name, At: now, SentAt: d.SentAt, Number: senderWord(d.ID), System: h.System, Event: senderWord(d.Event), Size: len(d.Body), Outcome: OutcomeIgnored}}
	owner, why, err := a.Hooks.buildOwner(ctx, h)
	if err != nil {
		return o, err
	}
	if o.Who = owner; owner.User == "" {
		o.Who = app.Actor{Tenant: h.Tenant, User: h.Owner, Via: app.ViaHook, Token: "build hook " + h.Name}
	}
	e, err := a.Systems.Read(d)
	if err != nil {
		return o, err
	}
	o.Event = e
	o.Delivery.Event, o.Delivery.Action, o.Delivery.Build, o.Delivery.Job = e.Event, e.Action, e.Build, e.Job
	w := a.evaluateDelivery(ctx, h, e)
	o.Delivery.Rule, o.Delivery.Message, o.Ends, o.Begin, o.Extend = w.rule, w.words, w.ends, w.begin, w.extend
	if w.refused {
		o.Delivery.Outcome = OutcomeRefused
	}
	if o.Begin != nil || o.Extend != "" {
		switch {
		case !h.Enabled:
			o.Delivery.Outcome, o.Delivery.Message = OutcomeRefused, "The hook is off: it ends builds but starts none."
		case why != "":
			o.Delivery.Outcome, o.Delivery.Message = OutcomeRefused, why
		default:
			return o, nil
		}
		o.Begin, o.Extend = nil, ""
	}
	return o, nil
}

// senderWord keeps a sender's word out of what it could do to a page or a log.
func senderWord(s string) string {
	if len(s) > 200 {
		s = s[:200]
	}
	out := []rune{}
	for _, r := range s {
		if !webhook.Unprintable(r) || r == ' ' {
			out = append(out, r)
		}
	}
	return string(out)
}

// evaluation is what rules say about an event.
type evaluation struct {
	rule    string
	words   string
	refused bool
	ends    []End
	begin   *Start
	extend  string
	looks   []RuleMatch
}

// RuleMatch is what one rule said about an event.
type RuleMatch struct {
	Rule    string `json:"rule"`
	Matched bool   `json:"matched"`
	Message string `json:"message,omitempty"` // why no one can tell, or why it does nothing
}

// reopening are the words of systems for a pull request that was closed and is not any more.
var reopening = []string{"reopened", "reopen"}

// evaluateDelivery asks the rules. The end of a build needs none: all that it has ends, whatever rules say by now.
func (a *Intake) evaluateDelivery(ctx context.Context, h BuildHook, e app.BuildEvent) (w evaluation) {
	ended := e.Phase == PhaseEnded && e.Build != ""
	if ended {
		w.ends = a.endsOf(ctx, h, e)
	}
	for _, r := range h.Rules {
		j, err := a.BuildRules.JudgeRule(ctx, r, e)
		if err != nil {
			w.looks = append(w.looks, RuleMatch{Rule: r.Name, Message: app.AsError(err).ForPeople()})
			continue
		}
		w.looks = append(w.looks, RuleMatch{Rule: r.Name, Matched: j.Applies})
		if !j.Applies {
			continue
		}
		w.rule = r.Name
		refuse := func(words string) {
			w.refused, w.words = true, words
			w.looks[len(w.looks)-1].Message = words
		}
		switch {
		case r.Do == ActionNothing:
			w.words = "The rule ignores this event."
		case j.Key == "":
			refuse("The event names no build, and the rule's key is empty.")
		case len(j.Key) > MaxBuildKey:
			refuse(fmt.Sprintf("The key is longer than %d bytes.", MaxBuildKey))
		case r.Do == ActionDelete:
			w.ends = append(w.ends, End{Key: j.Key})
		case ended:
			refuse("The build has already ended.")
		case r.Do == ActionExtend:
			w.extend = j.Key
		case e.Fork && r.Forks != ForksAll:
			refuse("The event comes from a fork, which the rule doesn't allow.")
		case e.ForkUnknown && r.Forks != ForksAll && r.Forks != ForksUnknown:
			refuse("The event doesn't say whether it comes from a fork. If only trusted people can open pull requests, set forks: unknown in the rule.")
		default:
			reopened := slices.Contains(reopening, e.Action)
			w.begin = &Start{Rule: r, Key: j.Key, Ask: j.Ask, Again: e.Build == "" || r.Again || reopened, Reopened: reopened, Call: a.callOf(r, j, e), NewestJobAt: e.NewestJobAt}
		}
		return w
	}
	if w.words = "No rule matches."; len(w.looks) == 0 {
		w.words = "The hook has no rules."
	}
	for _, l := range w.looks {
		if l.Message != "" {
			w.words = fmt.Sprintf("No rule matches; %s couldn't be evaluated: %s", l.Rule, l.Message)
			break
		}
	}
	return w
}

// endsOf returns what ends with a build, or with a job of it. A cluster that is for the whole of a build goes with the whole.
func (a *Intake) endsOf(ctx context.Context, h BuildHook, e app.BuildEvent) []End {
	if e.Job == "" && e.JobID == "" {
		return []End{{Build: e.Build, Lasting: true, At: e.FinishedAt}}
	}
	keys := []string{e.DefaultKey()}
	for _, r := range h.Rules {
		if r.Do != ActionCreate || r.Key == "" {
			continue
		}
		if key, err := a.BuildRules.KeyOf(ctx, r, e); err == nil && key != "" && key != e.Build && len(key) <= MaxBuildKey && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	var ends []End
	for _, k := range keys {
		ends = append(ends, End{Key: k, Lasting: true, At: e.FinishedAt})
	}
	return ends
}

// extendFor moves the lease where an order says so; what happens to it is with the delivery.
func (a *Intake) extendFor(ctx context.Context, o IngestOrder, done *IngestResult) {
	if o.Extend == "" || done.Build == nil {
		return
	}
	i := slices.IndexFunc(o.Hook.Rules, func(r Rule) bool { return r.Name == o.Delivery.Rule })
	if i < 0 {
		return
	}
	d := &done.Delivery
	if err := a.Builds.extendBuild(ctx, o.Who, *done.Build, o.Hook.Rules[i].LeaseTime()); err != nil {
		d.Outcome, d.Message = OutcomeRefused, app.AsError(err).Advised()
	} else {
		d.Outcome, d.Message = OutcomeExtended, ""
	}
	_ = a.Store.NoteDeliveryOutcome(ctx, *d) // it is a note; the lease was moved or not all the same
}

func (a *Intake) keptBuild(ctx context.Context, h BuildHook, id int64) (DeliveryRecord, Delivery, error) {
	kept, uniq, err := a.Store.BuildDelivery(ctx, h.Tenant, h.Name, id)
	if err == nil && a.Systems == nil {
		err = &app.Error{Code: app.EConflict, Message: "This server has no build systems enabled."}
	}
	return kept, Delivery{System: kept.System, Event: kept.Event, ID: kept.Number, Unique: uniq, SentAt: kept.SentAt, Body: []byte(kept.Body)}, err
}

// BuildDeliveries lists the deliveries of a hook before a number, newest first.
func (a *Intake) BuildDeliveries(ctx context.Context, actor app.Actor, hook string, before int64, limit int) ([]DeliveryRecord, error) {
	if err := actor.Authorize("BuildDeliveries"); err != nil {
		return nil, err
	}
	return a.Store.BuildDeliveries(ctx, actor.Tenant, hook, before, min(max(limit, 1), MaxBuildPage))
}

// Delivery returns one with its body.
func (a *Intake) BuildDelivery(ctx context.Context, actor app.Actor, hook string, id int64) (DeliveryRecord, error) {
	if err := actor.Authorize("BuildDelivery"); err != nil {
		return DeliveryRecord{}, err
	}
	d, _, err := a.Store.BuildDelivery(ctx, actor.Tenant, hook, id)
	return d, err
}

// ReplayBuild runs a kept delivery again, against today's rules. A build that has a cluster gets no second one, one that has ended none
// at all; one that was refused or failed may begin again.
func (a *Intake) ReplayBuild(ctx context.Context, actor app.Actor, hook string, id int64) (DeliveryRecord, error) {
	if err := actor.Authorize("ReplayBuild"); err != nil {
		return DeliveryRecord{}, err
	}
	h, err := a.Store.BuildHook(ctx, actor.Tenant, hook)
	if err != nil {
		return DeliveryRecord{}, err
	}
	kept, d, err := a.keptBuild(ctx, h, id)
	if err != nil {
		return DeliveryRecord{}, err
	}
	o, err := a.buildOrder(ctx, h, d, a.Now())
	if err != nil && app.CodeOf(err) != app.EInvalid {
		return DeliveryRecord{}, err
	}
	if err != nil {
		o.Delivery.Outcome, o.Delivery.Message = OutcomeUnreadable, app.AsError(err).ForPeople()
	}
	o.Replay, o.Delivery.ID, o.Uniq = kept.ID, kept.ID, d.Unique
	done, err := a.Store.IngestBuild(ctx, o)
	if err != nil {
		return DeliveryRecord{}, err
	}
	a.extendFor(ctx, o, &done)
	return done.Delivery, a.Store.AddAuditEntry(ctx, actor.AuditEntry(o.Now, "build_hook.replay", hook, fmt.Sprintf("delivery %d: %s", id, done.Delivery.Outcome)))
}
