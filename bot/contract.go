package bot

import (
	"context"
	"time"
)

// talker is what a chat's transport hands to the bot, and what it gets back for it. Every method may be called from several
// goroutines, works until it is done or ctx ends, and puts what goes wrong into its answer: the transport answers its chat in
// time by itself, and shows what comes later where the chat lets it.
type talker interface {
	// Say answers what someone typed behind the bot's name.
	Say(ctx context.Context, p Person, text string) Answer
	// Press does what stands behind a button of a message, a home or a modal; value is the button's own.
	Press(ctx context.Context, p Person, value string) Answer
	// Fill returns a modal as it is to be shown after something in it was chosen, typed or pressed: Form.Changed says what.
	// Fields that keep their names keep what was typed.
	Fill(ctx context.Context, p Person, f Form) Modal
	// Submit does what a modal is for.
	Submit(ctx context.Context, p Person, f Form) Submitted
	// Choices returns what can be chosen in the field Form.Changed, whose choices are Asked for, after some letters; at most 100.
	Choices(ctx context.Context, p Person, f Form, typed string) []Choice
	// Home returns someone's own page within the chat, and has it kept fresh by a Board from then on. People who are not linked
	// get a page that tells them how.
	Home(ctx context.Context, p Person) Home
	// Unfurl says in a few words what some links lead to: those of the portal's pages of clusters that the person who wrote
	// them may see, and nothing that others who read there must not see. Others are left out.
	Unfurl(ctx context.Context, p Person, urls []string) []Unfurl
}

// What a Board asks of a poster beside Poster; one that lacks a power is not asked for it. Every call counts within the budget
// of its workspace, and errors have the codes of Poster's. Person is as the chat knows someone within the workspace.
type (
	// Threads says more beneath a message.
	Threads interface {
		Reply(ctx context.Context, channel, message string, a Answer) (reply string, err error)
		EditReply(ctx context.Context, channel, reply string, a Answer) error
	}
	// Teller tells people directly. Key names what is told, so that after an unclear answer Told can find whether it was.
	Teller interface {
		Tell(ctx context.Context, person, key string, a Answer) error
		Told(ctx context.Context, person, key string, since time.Time) (bool, error)
	}
	// Zones knows in which time zone someone is; "" where that is not known.
	Zones interface {
		Zone(ctx context.Context, person string) string
	}
	// Publisher shows homes.
	Publisher interface {
		Publish(ctx context.Context, person string, h Home) error
	}
)

var _ talker = (*Bot)(nil)

// Modal is a window that asks for something, or only shows something where Submit is empty. A transport opens it with the
// trigger of what was said or pressed.
type Modal struct {
	ID     string // what it is for; comes back as Form.ID
	Note   string // comes back as Form.Note; at most 3000 bytes, of letters that need no escaping
	Title  string
	Submit string // the name of the button that sends it off
	Parts  []Part
}

// Part is a piece of a modal or a home, shown in this order: title, lines, log, field, buttons and links.
type Part struct {
	Title   string
	Lines   []string
	Quiet   bool     // the lines are an aside
	Log     []string // as a program printed them
	Field   *Field
	Buttons []Button
	Links   []Link
}

// FieldKind is what a field takes.
type FieldKind string

// The kinds of field.
const (
	FieldText   FieldKind = "text"
	FieldLong   FieldKind = "long"   // text of several lines
	FieldNumber FieldKind = "number" // whole
	FieldChoice FieldKind = "choice" // one of Choices
	FieldMany   FieldKind = "many"   // any of Choices
)

// Field is something that someone fills in.
type Field struct {
	Name        string // unique within a modal
	Kind        FieldKind
	Label, Hint string
	Placeholder string
	Values      []string // what stands in it at first; of choices their values
	Choices     []Choice
	Asked       bool // there are too many choices: they are asked for while someone types; see Talker.Choices
	Optional    bool
	Live        bool // what is filled in is told at once: see Talker.Fill
	Most        int  // letters of text; 0: what the chat takes
	Min, Max    *int // of numbers
}

// Choice is one that can be made.
type Choice struct{ Name, Value, Hint string }

// Form is what stands in a modal when someone has changed something in it, or sends it off.
type Form struct {
	ID, Note string
	Values   map[string][]string // by field; one that is empty has none
	Changed  string              // the field that was changed; "" for none
	Pressed  string              // the value of a button within the modal that was pressed; "" for none
}

// Submitted is what happens to a modal that was sent off. At most one of Errors, Modal and Answer is set; with none of them
// it only closes.
type Submitted struct {
	Errors map[string]string // by field; the modal stays as it is, with these at the fields
	Modal  *Modal            // what is shown instead
	Answer *Answer           // it closes, and this is told in Channel, for the eyes of who sent it, or directly where that is ""
	// Late is the same modal with the errors in it, all of it still filled in: for when it is too late to say Errors.
	Late    *Modal
	Channel string
}

// Home is someone's own page within the chat.
type Home struct{ Parts []Part }

// Unfurl is what is shown beneath a link.
type Unfurl struct {
	URL   string // as it was given
	Title string
	Lines []string
	Link  Link
}

// Confirm is what is asked before a button does something.
type Confirm struct{ Title, Text, Yes, No string }

// InModal shows an answer in a window of its own: for buttons that are pressed where no message can be answered, as in a home.
func InModal(a Answer) Modal {
	return Modal{ID: "answer", Title: "Muster", Parts: []Part{{Title: a.Title, Lines: a.Lines, Log: a.Log}, {Buttons: a.Buttons, Links: a.Links}}}
}
