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
	BuildDeliveries(ctx context.Context, tenant string, hook string, before int64, limit int) ([]BuildTaken, error)
	// BuildDelivery returns one with its body, and what makes it the same.
	BuildDelivery(ctx context.Context, tenant, hook string, id int64) (d BuildTaken, uniq string, err error)
	BuildHook(ctx context.Context, tenant string, name string) (BuildHook, error)
	// BuildHookAt returns the hook of an address with the secrets that count now, the newest first; ENotFound where there is none.
	BuildHookAt(ctx context.Context, id string, now time.Time) (h BuildHook, secrets []string, err error)
	// BuildTokenKey returns what tokens of a hook's builds are made from.
	BuildTokenKey(ctx context.Context, id string) ([]byte, error)
	// NoteBuildRefused notes why a delivery was not taken, at most once in ten seconds for each hook.
	NoteBuildRefused(ctx context.Context, id, why string, now time.Time) error
	// NoteBuildTaken writes what happened to a delivery later: Outcome and Words.
	NoteBuildTaken(ctx context.Context, d BuildTaken) error
	NoteDeed(ctx context.Context, d app.Deed) error
	// TakeBuild does what an order says, and keeps the delivery. EConflict, reason "replayed", where there was one with the same Uniq;
	// ENotFound where the hook is gone.
	TakeBuild(ctx context.Context, o BuildOrder) (BuildDone, error)
}

// IntakeConfig is what Intake is created from. Only what says so may be nil.
type IntakeConfig struct {
	Store      IntakeStore
	Now        func() time.Time
	BuildRules BuildRuleEngine
	// Systems understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Systems  BuildSystems
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

// BuildOutcome is what happened to a delivery.
type BuildOutcome string

// BuildTaken is what is kept of a delivery that was signed right.
type BuildTaken struct {
	ID      int64        `json:"id"`
	Hook    string       `json:"hook"`
	At      time.Time    `json:"at"`
	SentAt  time.Time    `json:"sent_at,omitzero"` // as signed
	From    string       `json:"from,omitempty"`
	Number  string       `json:"number,omitempty"` // the sender's own
	System  string       `json:"system"`
	Event   string       `json:"event"`
	Action  string       `json:"action,omitempty"`
	Build   string       `json:"build,omitempty"`
	Job     string       `json:"job,omitempty"`
	Outcome BuildOutcome `json:"outcome"`
	Words   string       `json:"words,omitempty"`
	Rule    string       `json:"rule,omitempty"`
	Made    int64        `json:"made,omitempty"` // the build that it is about
	Replays int          `json:"replays,omitempty"`
	Size    int          `json:"size"`           // of the body, in bytes
	Body    string       `json:"body,omitempty"` // only of a single one
}

// BuildOrder is what a delivery is to bring about, as the store takes it. All of it happens in one transaction, once for each Uniq.
type BuildOrder struct {
	Hook     BuildHook
	Who      app.Actor
	Delivery BuildTaken
	Uniq     string // digest of BuildDelivery.Unique
	Body     []byte
	Replay   int64 // the kept delivery that is run again; 0: it is a new one
	Event    app.BuildEvent
	Ends     []BuildEnd
	// Begin is nil where nothing is to begin.
	Begin *BuildBegin
	// Extend asks for the build of this key; "" for none.
	Extend string
	Now    time.Time
}

// BuildEnd says which builds of a hook end: those of a build, or the one of a key.
type BuildEnd struct {
	Build string
	Key   string
	// Lasting says that what comes later of it begins nothing any more, unless it is of another run: newer than At. At is zero where that
	// isn't reported.
	Lasting bool
	At      time.Time
}

// BuildBegin is a build that wants a cluster.
type BuildBegin struct {
	Rule  BuildRule
	Key   string
	Ask   BuildAsk
	Again bool // one that is over may come again, unless its end was reported
	// Reopened says that what was reported of its end holds no more.
	Reopened bool
	Call     BuildCall
	// NewestJobAt begins again what has ended before then.
	NewestJobAt time.Time
}

// BuildDone is what an order brought about.
type BuildDone struct {
	Delivery BuildTaken
	Build    *Build // that it is about; nil for none
}

// The outcomes.
const (
	BuildTakenBegun      BuildOutcome = "begun"      // a build waits for its cluster now
	BuildTakenKnown      BuildOutcome = "known"      // the build has one, or had
	BuildTakenEnded      BuildOutcome = "ended"      // builds were ended
	BuildTakenExtended   BuildOutcome = "extended"   // the lease was moved
	BuildTakenNothing    BuildOutcome = "nothing"    // no rule matched, or it says so
	BuildTakenRefused    BuildOutcome = "refused"    // a rule matched, but it cannot be done
	BuildTakenUnreadable BuildOutcome = "unreadable" // the body is not what the system sends
)

// BuildReceipt is what the sender of a delivery gets back.
type BuildReceipt struct {
	Delivery int64          `json:"delivery"`
	Outcome  BuildOutcome   `json:"outcome"`
	Words    string         `json:"words,omitempty"`
	Build    int64          `json:"build,omitempty"`
	State    app.BuildState `json:"state,omitempty"`
	// URL is where the build is to be looked at, which the face fills in; Token opens it, and nothing else, until the build has ended.
	URL   string `json:"url,omitempty"`
	Token string `json:"token,omitempty"`
}

// Errors of deliveries that say no more than they must.
var errBuildSigned = &app.Error{Code: app.EUnauthorized, Reason: "signature", Message: "The hook doesn't exist, or the signature is missing, wrong or too old.",
	Hint: "Admins can see why on the hook's page."}

// nobodyHere represents hooks that are not there, so that their deliveries take as long to be refused as others.
const nobodyHere = "whsec_bm9ib2R5IGlzIGhlcmUsIG5vYm9keSBhdCBhbGwgaGVyZQ=="

// TakeBuild takes what was sent to a hook's address, on behalf of no one: what it may do is what the hook's owner may. header returns the
// first value of a header. EUnauthorized where the hook is not known or the signature is not right, the same for both; EConflict, reason
// "replayed", where it was taken before; EInvalid where the body is not what the system sends; EForbidden where the hook is switched off.
func (a *Intake) TakeBuild(ctx context.Context, id string, header func(string) string, body []byte, from string) (BuildReceipt, error) {
	now := a.Now()
	if len(body) > MaxBuildBody {
		return BuildReceipt{}, &app.Error{Code: app.ETooLarge, Message: fmt.Sprintf("A delivery must be at most %d bytes.", MaxBuildBody)}
	}
	if a.Systems == nil || a.BuildRules == nil {
		return BuildReceipt{}, errBuildSigned
	}
	h, secrets, err := a.Store.BuildHookAt(ctx, id, now)
	if app.CodeOf(err) == app.ENotFound {
		for _, s := range a.Systems.Systems() {
			_, _ = a.Systems.Verify(s.Name, header, body, []string{nobodyHere}, now)
			break
		}
		return BuildReceipt{}, errBuildSigned
	}
	if err != nil {
		return BuildReceipt{}, err
	}
	d, err := a.Systems.Verify(h.System, header, body, secrets, now)
	if err != nil {
		if err := a.Store.NoteBuildRefused(ctx, id, senderWord(app.AsError(err).Advised()), now); err != nil {
			return BuildReceipt{}, err
		}
		return BuildReceipt{}, errBuildSigned
	}
	order, err := a.buildOrder(ctx, h, d, now)
	var unread *app.Error
	if errors.As(err, &unread) && unread.Code == app.EInvalid {
		order.Delivery.Outcome, order.Delivery.Words = BuildTakenUnreadable, unread.ForPeople()
	} else if err != nil {
		return BuildReceipt{}, err
	}
	order.Delivery.From = from
	done, took := a.Store.TakeBuild(ctx, order)
	if took != nil {
		return BuildReceipt{}, took
	}
	a.extendFor(ctx, order, &done)
	if err != nil {
		return BuildReceipt{}, err
	}
	return a.buildReceipt(ctx, h, done)
}

func (a *Intake) buildReceipt(ctx context.Context, h BuildHook, done BuildDone) (BuildReceipt, error) {
	r := BuildReceipt{Delivery: done.Delivery.ID, Outcome: done.Delivery.Outcome, Words: done.Delivery.Words}
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
func (a *Intake) buildOrder(ctx context.Context, h BuildHook, d BuildDelivery, now time.Time) (BuildOrder, error) {
	sum := sha256.Sum256([]byte(d.Unique))
	o := BuildOrder{Hook: h, Uniq: hex.EncodeToString(sum[:]), Body: d.Body, Now: now,
		Delivery: BuildTaken{Hook: h.Name, At: now, SentAt: d.SentAt, Number: senderWord(d.ID), System: h.System, Event: senderWord(d.Event), Size: len(d.Body), Outcome: BuildTakenNothing}}
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
	w := a.weighBuild(ctx, h, e)
	o.Delivery.Rule, o.Delivery.Words, o.Ends, o.Begin, o.Extend = w.rule, w.words, w.ends, w.begin, w.extend
	if w.refused {
		o.Delivery.Outcome = BuildTakenRefused
	}
	if o.Begin != nil || o.Extend != "" {
		switch {
		case !h.Enabled:
			o.Delivery.Outcome, o.Delivery.Words = BuildTakenRefused, "The hook is off: it ends builds but starts none."
		case why != "":
			o.Delivery.Outcome, o.Delivery.Words = BuildTakenRefused, why
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

// weighedBuild is what rules say about an event.
type weighedBuild struct {
	rule    string
	words   string
	refused bool
	ends    []BuildEnd
	begin   *BuildBegin
	extend  string
	looks   []BuildLook
}

// BuildLook is what one rule said about an event.
type BuildLook struct {
	Rule    string `json:"rule"`
	Matched bool   `json:"matched"`
	Words   string `json:"words,omitempty"` // why no one can tell, or why it does nothing
}

// reopening are the words of systems for a pull request that was closed and is not any more.
var reopening = []string{"reopened", "reopen"}

// weighBuild asks the rules. The end of a build needs none: all that it has ends, whatever rules say by now.
func (a *Intake) weighBuild(ctx context.Context, h BuildHook, e app.BuildEvent) (w weighedBuild) {
	ended := e.Phase == BuildEnded && e.Build != ""
	if ended {
		w.ends = a.endsOf(ctx, h, e)
	}
	for _, r := range h.Rules {
		j, err := a.BuildRules.JudgeRule(ctx, r, e)
		if err != nil {
			w.looks = append(w.looks, BuildLook{Rule: r.Name, Words: app.AsError(err).ForPeople()})
			continue
		}
		w.looks = append(w.looks, BuildLook{Rule: r.Name, Matched: j.Applies})
		if !j.Applies {
			continue
		}
		w.rule = r.Name
		refuse := func(words string) {
			w.refused, w.words = true, words
			w.looks[len(w.looks)-1].Words = words
		}
		switch {
		case r.Do == BuildNothing:
			w.words = "The rule's action is nothing."
		case j.Key == "":
			refuse("The event names no build, and the rule's key is empty.")
		case len(j.Key) > MaxBuildKey:
			refuse(fmt.Sprintf("The key is longer than %d bytes.", MaxBuildKey))
		case r.Do == BuildDelete:
			w.ends = append(w.ends, BuildEnd{Key: j.Key})
		case ended:
			refuse("The build has already ended.")
		case r.Do == BuildExtend:
			w.extend = j.Key
		case e.Fork && r.Forks != BuildForksAll:
			refuse("The event comes from a fork, which the rule doesn't allow.")
		case e.ForkUnknown && r.Forks != BuildForksAll && r.Forks != BuildForksUnknown:
			refuse("The event doesn't say whether it comes from a fork. If only trusted people can open pull requests, set forks: unknown in the rule.")
		default:
			reopened := slices.Contains(reopening, e.Action)
			w.begin = &BuildBegin{Rule: r, Key: j.Key, Ask: j.Ask, Again: e.Build == "" || r.Again || reopened, Reopened: reopened, Call: a.callOf(r, j, e), NewestJobAt: e.NewestJobAt}
		}
		return w
	}
	if w.words = "No rule matches."; len(w.looks) == 0 {
		w.words = "The hook has no rules."
	}
	for _, l := range w.looks {
		if l.Words != "" {
			w.words = fmt.Sprintf("No rule matches; %s couldn't be evaluated: %s", l.Rule, l.Words)
			break
		}
	}
	return w
}

// endsOf returns what ends with a build, or with a job of it. A cluster that is for the whole of a build goes with the whole.
func (a *Intake) endsOf(ctx context.Context, h BuildHook, e app.BuildEvent) []BuildEnd {
	if e.Job == "" && e.JobID == "" {
		return []BuildEnd{{Build: e.Build, Lasting: true, At: e.FinishedAt}}
	}
	keys := []string{e.DefaultKey()}
	for _, r := range h.Rules {
		if r.Do != BuildCreate || r.Key == "" {
			continue
		}
		if key, err := a.BuildRules.KeyOf(ctx, r, e); err == nil && key != "" && key != e.Build && len(key) <= MaxBuildKey && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	var ends []BuildEnd
	for _, k := range keys {
		ends = append(ends, BuildEnd{Key: k, Lasting: true, At: e.FinishedAt})
	}
	return ends
}

// extendFor moves the lease where an order says so; what happens to it is with the delivery.
func (a *Intake) extendFor(ctx context.Context, o BuildOrder, done *BuildDone) {
	if o.Extend == "" || done.Build == nil {
		return
	}
	i := slices.IndexFunc(o.Hook.Rules, func(r BuildRule) bool { return r.Name == o.Delivery.Rule })
	if i < 0 {
		return
	}
	d := &done.Delivery
	if err := a.Builds.extendBuild(ctx, o.Who, *done.Build, o.Hook.Rules[i].LeaseTime()); err != nil {
		d.Outcome, d.Words = BuildTakenRefused, app.AsError(err).Advised()
	} else {
		d.Outcome, d.Words = BuildTakenExtended, ""
	}
	_ = a.Store.NoteBuildTaken(ctx, *d) // it is a note; the lease was moved or not all the same
}

func (a *Intake) keptBuild(ctx context.Context, h BuildHook, id int64) (BuildTaken, BuildDelivery, error) {
	kept, uniq, err := a.Store.BuildDelivery(ctx, h.Tenant, h.Name, id)
	if err == nil && a.Systems == nil {
		err = &app.Error{Code: app.EConflict, Message: "This server has no build systems enabled."}
	}
	return kept, BuildDelivery{System: kept.System, Event: kept.Event, ID: kept.Number, Unique: uniq, SentAt: kept.SentAt, Body: []byte(kept.Body)}, err
}

// BuildDeliveries lists the deliveries of a hook before a number, newest first.
func (a *Intake) BuildDeliveries(ctx context.Context, actor app.Actor, hook string, before int64, limit int) ([]BuildTaken, error) {
	if err := actor.Authorize("BuildDeliveries"); err != nil {
		return nil, err
	}
	return a.Store.BuildDeliveries(ctx, actor.Tenant, hook, before, min(max(limit, 1), MaxBuildPage))
}

// BuildDelivery returns one with its body.
func (a *Intake) BuildDelivery(ctx context.Context, actor app.Actor, hook string, id int64) (BuildTaken, error) {
	if err := actor.Authorize("BuildDelivery"); err != nil {
		return BuildTaken{}, err
	}
	d, _, err := a.Store.BuildDelivery(ctx, actor.Tenant, hook, id)
	return d, err
}

// ReplayBuild runs a kept delivery again, against today's rules. A build that has a cluster gets no second one, one that has ended none
// at all; one that was refused or failed may begin again.
func (a *Intake) ReplayBuild(ctx context.Context, actor app.Actor, hook string, id int64) (BuildTaken, error) {
	if err := actor.Authorize("ReplayBuild"); err != nil {
		return BuildTaken{}, err
	}
	h, err := a.Store.BuildHook(ctx, actor.Tenant, hook)
	if err != nil {
		return BuildTaken{}, err
	}
	kept, d, err := a.keptBuild(ctx, h, id)
	if err != nil {
		return BuildTaken{}, err
	}
	o, err := a.buildOrder(ctx, h, d, a.Now())
	if err != nil && app.CodeOf(err) != app.EInvalid {
		return BuildTaken{}, err
	}
	if err != nil {
		o.Delivery.Outcome, o.Delivery.Words = BuildTakenUnreadable, app.AsError(err).ForPeople()
	}
	o.Replay, o.Delivery.ID, o.Uniq = kept.ID, kept.ID, d.Unique
	done, err := a.Store.TakeBuild(ctx, o)
	if err != nil {
		return BuildTaken{}, err
	}
	a.extendFor(ctx, o, &done)
	return done.Delivery, a.Store.NoteDeed(ctx, actor.Deed(o.Now, "build_hook.replay", hook, fmt.Sprintf("delivery %d: %s", id, done.Delivery.Outcome)))
}
