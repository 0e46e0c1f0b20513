package plan

import (
	"time"

	"muster/app/humanize"
	"muster/app/template"
)

// ManualStep returns what a person is asked at a step of the plan; nil where a worker carries it out.
func (p Plan) ManualStep(i int) *template.Person {
	if name := p.Steps[i].Asks; name != "" {
		return p.ManualSteps[name]
	}
	return nil
}

// WaitsForPeople counts the questions of a plan, and says for how long each may wait at most.
func (p Plan) WaitsForPeople() (questions int, longest time.Duration) {
	for i := range p.Steps {
		if q := p.ManualStep(i); q != nil {
			questions++
			longest = max(longest, q.AnswerTime())
		}
	}
	return questions, longest
}

// PeopleInWords is what the expected duration does not say: "plus waiting for people (3 questions, up to 1 d each)"; "" where
// no one is asked.
func (p Plan) PeopleInWords() string {
	n, longest := p.WaitsForPeople()
	switch n {
	case 0:
		return ""
	case 1:
		return "plus waiting for an answer (up to " + humanize.Duration(longest) + ")"
	}
	return "plus waiting for answers (" + humanize.Count(n, "question") + ", up to " + humanize.Duration(longest) + " each)"
}
