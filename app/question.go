package app

import (
	"slices"
	"strings"
	"time"
)

// Person says that a person carries a step out instead of a worker: what the person is asked, and who that may be.
type Person struct {
	// Ask is the question, in a sentence or two. Macros in it and in Help are expanded when it is asked.
	Ask    string        `json:"ask"`
	Help   string        `json:"help,omitempty"` // what is to be done by hand, and how
	Fields []PersonField `json:"fields,omitempty"`
	// Who may answer beside admins: PersonOwner, PersonAdmins (nobody else) and names of groups; none is the owner.
	Who []string `json:"who,omitempty"`
	// Not is "requester" where whoever asked for the operation may not answer; "" excludes nobody.
	Not     string        `json:"not,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // 0 is DefaultAnswerTime
	// OnTimeout is what becomes of the step where nobody answers in time; "" is AnswerFail.
	OnTimeout AnswerChoice `json:"on_timeout,omitempty"`
	// Once lets one answer count for all nodes on which the same is asked in an operation.
	Once bool `json:"once,omitempty"`
}

// PersonField is a value that the person types.
type PersonField struct {
	Parameter
	// Secret values are shown to nobody, and do not get into logs.
	Secret bool `json:"secret,omitempty"`
}

// AnswerChoice is what becomes of a step where nobody answers in time.
type AnswerChoice string

// The choices.
const (
	AnswerFail AnswerChoice = "fail"
	AnswerGoOn AnswerChoice = "go_on" // with what fields have by default
)

// AnswerChoices are all of them.
var AnswerChoices = []AnswerChoice{AnswerFail, AnswerGoOn}

// AskBetweenBatches is what a person is asked between batches where no other words are given.
const AskBetweenBatches = "Look at what was changed so far. May the next batch follow?"

// Words of Person.Who and Person.Not that are no names of groups.
const (
	PersonOwner     = "owner"
	PersonAdmins    = "admins"
	PersonRequester = "requester"
)

// Limits of questions.
const (
	DefaultAnswerTime  = 24 * time.Hour
	MinAnswerTime      = time.Minute
	MaxAnswerTime      = 30 * 24 * time.Hour // so that nothing stays half done, and is paid for, for ever
	MaxQuestionText    = 2000                // bytes of a question, and of its help
	MaxQuestionFields  = 20
	MaxQuestionWho     = 20
	MaxRefusal         = 1000 // bytes of the reason of a refusal
	MostQuestions      = 500  // that one answer lists
	QuestionsAtOnce    = 100  // that are read at once for that
	mostQuestionSecret = 4096
)

// AnswerTime is for how long the person is asked.
func (p *Person) AnswerTime() time.Duration {
	if p.Timeout <= 0 {
		return DefaultAnswerTime
	}
	return p.Timeout
}

// GoesOn tells whether the step goes on where nobody answers in time.
func (p *Person) GoesOn() bool { return p.OnTimeout == AnswerGoOn }

// Groups are the groups whose members may answer.
func (p *Person) Groups() []string {
	return slices.DeleteFunc(slices.Clone(p.Who), func(w string) bool { return w == PersonOwner || w == PersonAdmins })
}

// Owners tells whether the cluster's owner may answer.
func (p *Person) Owners() bool { return len(p.Who) == 0 || slices.Contains(p.Who, PersonOwner) }

// WhoInWords names who may answer: "the owner, members of ops or an admin".
func (p *Person) WhoInWords(owner string) string {
	var who []string
	if p.Owners() {
		who = append(who, owner)
	}
	if groups := p.Groups(); len(groups) > 0 {
		who = append(who, "a member of "+OrList(groups))
	}
	return OrList(append(who, "an admin"))
}

// QuestionState is what has become of a question.
type QuestionState string

// The states of a question. What was withdrawn by a pause is asked anew with the resume.
const (
	QuestionLater     QuestionState = "later" // its turn has not come
	QuestionOpen      QuestionState = "open"
	QuestionAnswered  QuestionState = "answered"
	QuestionRefused   QuestionState = "refused"
	QuestionOverdue   QuestionState = "overdue"   // nobody answered in time
	QuestionWithdrawn QuestionState = "withdrawn" // the operation was paused, cancelled or taken over
)

// Question is what a person is asked at a step of an operation.
type Question struct {
	Number      int64         `json:"-"` // by which lists go on
	Operation   int64         `json:"operation"`
	Index       int           `json:"index"`
	Attempt     int           `json:"attempt"` // which an answer has to name
	Step        string        `json:"step"`
	Node        string        `json:"node,omitempty"`
	Service     string        `json:"service,omitempty"`
	Action      Action        `json:"action"`
	Tenant      string        `json:"tenant"`
	Cluster     string        `json:"cluster"`
	ClusterName string        `json:"cluster_name"`
	Kind        OperationKind `json:"kind"` // of the operation
	Owner       string        `json:"owner"`
	Requester   string        `json:"requester"`
	Person      Person        `json:"person"` // with Ask and Help as they were expanded
	State       QuestionState `json:"state"`
	AskedAt     time.Time     `json:"asked_at,omitzero"`
	Until       time.Time     `json:"until,omitzero"` // what happens then says Person.OnTimeout
	AnsweredAt  time.Time     `json:"answered_at,omitzero"`
	AnsweredBy  string        `json:"answered_by,omitempty"`
	Reason      string        `json:"reason,omitempty"` // of a refusal
	Access      Access        `json:"-"`                // of who looks, to the cluster
	// Mine tells whether who looks may answer; Waits is whom it waits for, in words.
	Mine  bool   `json:"mine"`
	Waits string `json:"waits"`
	// Same is how many more nodes the answer counts for.
	Same int `json:"same,omitempty"`
}

// Path leads to where it is answered, from the portal's root.
func (q Question) Path() string { return "/clusters/" + q.Cluster + "#questions" }

// Title is what it is about, in a few words.
func (q Question) Title() string {
	name := FirstOf(q.ClusterName, q.Cluster)
	if q.Action == ActionAsk {
		return name + ": may the " + q.Kind.Words() + " go on?"
	}
	where := q.Service + " " + string(q.Action)
	if q.Node != "" && !q.Person.Once {
		where += " on " + q.Node
	}
	return name + ": " + where
}

// AnswerValue is one value, as it is put into texts.
type AnswerValue struct {
	Text   string `json:"text"`
	Secret bool   `json:"secret,omitempty"`
}

// Question gives what a person is asked at a step of the plan; nil where a worker carries it out.
func (p Plan) Question(i int) *Person {
	if name := p.Steps[i].Asks; name != "" {
		return p.Questions[name]
	}
	return nil
}

// WaitsForPeople counts the questions of a plan, and says for how long each may wait at most.
func (p Plan) WaitsForPeople() (questions int, longest time.Duration) {
	for i := range p.Steps {
		if q := p.Question(i); q != nil {
			questions++
			longest = max(longest, q.AnswerTime())
		}
	}
	return questions, longest
}

// PeopleInWords is what the expected duration does not say: "plus waiting for people (3 questions, up to 1 d each)"; "" where
// nobody is asked.
func (p Plan) PeopleInWords() string {
	n, longest := p.WaitsForPeople()
	switch n {
	case 0:
		return ""
	case 1:
		return "plus waiting for a person (up to " + Length(longest) + ")"
	}
	return "plus waiting for people (" + Count(n, "question") + ", up to " + Length(longest) + " each)"
}

// oneLine makes a text fit for a title.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// IsFor tells whether a group of the reader is asked.
func (p Person) IsFor(r ClusterReader) bool {
	return slices.ContainsFunc(p.Groups(), func(g string) bool { return slices.Contains(r.Groups, g) })
}
