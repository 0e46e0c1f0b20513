package template

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Person says that a person carries a step out instead of a worker: what the person is asked, and who that may be.
type Person struct {
	// Ask is the question, in a sentence or two. Macros in it and in Help are expanded when it is asked.
	Ask    string        `json:"ask"`
	Help   string        `json:"help,omitempty"` // what is to be done by hand, and how
	Fields []PersonField `json:"fields,omitempty"`
	// Who may answer beside admins: PersonOwner, PersonAdmins (no one else) and names of groups; none is the owner.
	Who []string `json:"who,omitempty"`
	// Not is "requester" where the one who asked for the operation may not answer; "" excludes no one.
	Not     string        `json:"not,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // 0 is defaultAnswerTime
	// OnTimeout is what happens to the step where no one answers in time; "" is AnswerFail.
	OnTimeout AnswerChoice `json:"on_timeout,omitempty"`
	// Once lets one answer count for all nodes on which the same is asked in an operation.
	Once bool `json:"once,omitempty"`
}

// PersonField is a value that the person types.
type PersonField struct {
	Parameter
	// Secret values are shown to no one, and do not get into logs.
	Secret bool `json:"secret,omitempty"`
}

// AnswerChoice is what happens to a step where no one answers in time.
type AnswerChoice string

// The choices.
const (
	AnswerFail     AnswerChoice = "fail"
	AnswerContinue AnswerChoice = "continue" // with what fields have by default
)

// AnswerChoices are all of them.
var AnswerChoices = []AnswerChoice{AnswerFail, AnswerContinue}

// Words of Person.Who and Person.Not that are no names of groups.
const (
	PersonOwner     = "owner"
	PersonAdmins    = "admins"
	PersonRequester = "requester"
)

// Limits of questions.
const (
	defaultAnswerTime   = 24 * time.Hour
	minAnswerTime       = time.Minute
	maxAnswerTime       = 30 * 24 * time.Hour // so that nothing stays half done, and is paid for, forever
	maxManualStepText   = 2000                // bytes of a question, and of its help
	MaxManualStepFields = 20
	maxManualStepWho    = 20
	MaxRefusal          = 1000 // bytes of the reason of a refusal
	MostManualSteps     = 500  // that one answer lists
	ManualStepsAtOnce   = 100  // that are read at once for that
)

// AnswerTime is for how long the person is asked.
func (p *Person) AnswerTime() time.Duration {
	if p.Timeout <= 0 {
		return defaultAnswerTime
	}
	return p.Timeout
}

// GoesOn reports whether the step continues where no one answers in time.
func (p *Person) GoesOn() bool { return p.OnTimeout == AnswerContinue }

// Groups are the groups whose members may answer.
func (p *Person) Groups() []string {
	return slices.DeleteFunc(slices.Clone(p.Who), func(w string) bool { return w == PersonOwner || w == PersonAdmins })
}

// Owners reports whether the cluster's owner may answer.
func (p *Person) Owners() bool { return len(p.Who) == 0 || slices.Contains(p.Who, PersonOwner) }

// WhoInWords names who may answer: "the owner, members of ops or an admin".
func (p *Person) WhoInWords(owner string) string {
	var who []string
	if p.Owners() {
		who = append(who, owner)
	}
	if groups := p.Groups(); len(groups) > 0 {
		who = append(who, "a member of "+humanize.Or(groups))
	}
	return humanize.Or(append(who, "an admin"))
}

// IsFor reports whether a group of the reader is asked.
func (p Person) IsFor(r app.ClusterReader) bool {
	return slices.ContainsFunc(p.Groups(), func(g string) bool { return slices.Contains(r.Groups, g) })
}

// AskBetweenBatches is what a person is asked between batches where no other words are given.
const AskBetweenBatches = "Check the changes so far. Continue with the next batch?"
