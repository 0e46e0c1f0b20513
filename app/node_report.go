package app

// NodeLevel says what a check that fails means.
type NodeLevel string

// NodeCheck is one thing that was looked at. One that was not looked at is OK and says in Skipped why: "the machine shares this
// host's file system".
type NodeCheck struct {
	Name    string    `json:"name"` // one word, such as "time"
	OK      bool      `json:"ok"`
	Level   NodeLevel `json:"level"`
	Found   string    `json:"found,omitempty"`
	Want    string    `json:"want,omitempty"`
	Hint    string    `json:"hint,omitempty"`    // what would mend it, where it is not OK
	Skipped string    `json:"skipped,omitempty"` // not checked, because of this
}

// String says it in a line for people.
func (c NodeCheck) String() string {
	switch {
	case c.Skipped != "":
		return c.Name + ": not checked: " + c.Skipped
	case c.Want == "":
		return c.Name + ": " + c.Found
	case c.OK:
		return c.Name + ": " + c.Found + ", as expected (" + c.Want + ")"
	}
	return c.Name + ": " + c.Found + ", expected " + c.Want
}
