package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// For how long what a look at an account has found is taken to be so: long enough for the machines of one operation, and where something is
// wrong, not so long that a person who has fixed it waits.
const (
	successTTL = 5 * time.Minute
	failureTTL = 10 * time.Second
)

// preflights keeps what was found of accounts before machines were asked for there: for what an operation has to make in all, and for one machine of a kind.
type preflights struct {
	mu    sync.Mutex
	looks map[string]*preflight
}

type preflight struct {
	turn  chan struct{} // holds one thing where it is no one's turn
	until time.Time
	err   error
}

// begin waits for one's turn, as long as the context lets one.
func (k *preflight) begin(ctx context.Context) error {
	select {
	case <-k.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *preflight) end() { k.turn <- struct{}{} }

// of returns the look that is kept by a key.
func (f *preflights) of(key string) *preflight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looks == nil || len(f.looks) > 1000 {
		f.looks = map[string]*preflight{}
	}
	if f.looks[key] == nil {
		k := &preflight{turn: make(chan struct{}, 1)}
		k.end()
		f.looks[key] = k
	}
	return f.looks[key]
}

// look looks at an account, unless someone has done so just now; those who want the same wait for one look. Before the first machines of an operation it is
// for all that the operation has to make, and else for the one machine. An account that cannot be looked at is none of our business here: its create will tell.
func (f *preflights) look(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output) error {
	if !looks(p) {
		return nil
	}
	one := family.MachineNeed{Count: 1, Flavor: as.Machine.Flavor, Image: as.Machine.Image, Zone: as.Machine.Zone}
	if as.CreateBatch == nil {
		kept := f.of(kindKey(as, one))
		if err := kept.begin(ctx); err != nil {
			return err
		}
		defer kept.end()
		if time.Now().Before(kept.until) {
			return kept.err
		}
		return kept.ask(ctx, p, as, []family.MachineNeed{one}, out)
	}
	kept := f.of(operationKey(as))
	if err := kept.begin(ctx); err != nil {
		return err
	}
	defer kept.end()
	if time.Now().Before(kept.until) {
		return kept.err
	}
	looked := as.CreateBatch.Machines
	err := kept.ask(ctx, p, as, looked, out)
	if err != nil && app.CodeOf(err) == app.EQuota && begun(ctx, p, as) {
		out(family.StreamSystem, "Other machines of this operation are being created, so only capacity is checked for this one.")
		looked = []family.MachineNeed{one}
		err = kept.ask(ctx, p, as, looked, out)
	}
	if err == nil {
		for _, m := range looked { // what is good for all of them is good for each, also of other operations
			f.of(kindKey(as, m)).good(kept.until)
		}
	}
	return err
}

// kindKey is what machines of a kind share, whatever operation they are of.
func kindKey(as *execution.Assignment, m family.MachineNeed) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", as.Provider.Account(), said(m.Flavor.Flavor, m.Flavor.Extra), said(m.Image.Image, m.Image.Extra), m.Zone)
}

func said(name string, extra map[string]string) string { return fmt.Sprintf("%s %q", name, extra) } // maps are printed in the order of their keys

func operationKey(as *execution.Assignment) string {
	return fmt.Sprintf("%s\x00operation %d", as.Provider.Account(), as.Fence.Operation)
}

// good keeps that all is well, unless someone is looking now.
func (k *preflight) good(until time.Time) {
	select {
	case <-k.turn:
		k.err, k.until = nil, until
		k.end()
	default:
	}
}

// ask looks, and keeps what was found.
func (k *preflight) ask(ctx context.Context, p family.Provider, as *execution.Assignment, machines []family.MachineNeed, out family.Output) error {
	found, err := p.(family.AccountChecker).CheckAccount(ctx, family.AccountNeeds{Machines: machines})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.err, k.until = nil, time.Now().Add(failureTTL) // others need not wait for the same
		out(family.StreamSystem, fmt.Sprintf("Couldn't check the account first (%s). Requesting the machine anyway.", app.AsError(err).ForPeople()))
		return nil
	}
	k.err, k.until = judge(as.Provider.Name, found, out), time.Now().Add(successTTL)
	if k.err != nil {
		k.until = time.Now().Add(failureTTL)
	}
	return k.err
}

// begun reports whether the cluster has more machines by now than when the operation's were counted: then quotas have less left, and so much less is
// needed. Where
// the provider does not tell, no one can say that it would refuse.
func begun(ctx context.Context, p family.Provider, as *execution.Assignment) bool {
	tags := as.Machine.Tags
	there, err := p.List(ctx, map[string]string{family.TagInstallation: tags[family.TagInstallation], family.TagCluster: tags[family.TagCluster]})
	return err != nil || len(there) > as.CreateBatch.Existing
}

// judge makes an error of what was found wrong, all of it, with the first one's code, and tells of the rest. What passes by itself, such as
// a cloud that does not answer for a moment, is left to the create and its retries.
func judge(account string, found []family.Finding, out family.Output) error {
	var first *app.Error
	for _, f := range found {
		switch {
		case f.OK:
		case f.Warning, f.Code == app.ETransient, f.Code == app.ETimeout, f.Code == app.ERateLimit, f.Code == app.ECapacity:
			out(family.StreamSystem, "Before creating the machine: "+strings.TrimSpace(f.Message+" "+f.Hint))
		case first == nil:
			first = &app.Error{Code: f.Code, Reason: "preflight", Message: fmt.Sprintf("Account %s was checked and no machine requested: %s", account, f.Message), Hint: f.Hint}
		default:
			first.Message = strings.TrimRight(first.Message, ". ") + ". " + f.Message
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// looks reports whether the member behind a provider can look at its account.
func looks(p family.Provider) bool {
	for {
		w, ok := p.(interface{ Unwrap() family.Provider })
		if !ok {
			_, ok = family.PowerOf[family.AccountChecker](p)
			return ok
		}
		p = w.Unwrap()
	}
}
