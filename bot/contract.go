package bot

import (
	"context"
	"time"
)

// handler is what a chat's transport calls. Every method may be called from several goroutines, works until it's done or ctx ends, and
// puts errors into its answer: the transport replies to its chat in time, and shows late answers if the chat allows it.
type handler interface {
	// Say answers a typed command.
	Say(ctx context.Context, p Person, text string) Answer
	// Press handles a button of a message, a home or a modal; value is the button's.
	Press(ctx context.Context, p Person, value string) Answer
	// Fill returns a modal as changed by what was chosen, typed or pressed in it: see Form.Changed. Fields that keep their names keep
	// their values.
	Fill(ctx context.Context, p Person, f Form) Modal
	// Submit handles a submitted modal.
	Submit(ctx context.Context, p Person, f Form) Submitted
	// Choices returns the options of the field Form.Changed that match what was typed, at most 100.
	Choices(ctx context.Context, p Person, f Form, typed string) []Choice
	// Home returns a person's home in the chat, which an Updater keeps up to date from then on. People without a linked account get
	// instructions.
	Home(ctx context.Context, p Person) Home
	// Unfurl previews links to clusters that their author can see, and shows nothing that other readers mustn't see. It leaves out
	// other links.
	Unfurl(ctx context.Context, p Person, urls []string) []Unfurl
}

// Optional capabilities of a Poster. Every call counts toward its workspace's budget, and errors have the codes of Poster's. Person is
// the chat's id of someone in the workspace.
type (
	// Threads replies in a message's thread.
	Threads interface {
		Reply(ctx context.Context, channel, message string, a Answer) (reply string, err error)
		EditReply(ctx context.Context, channel, reply string, a Answer) error
	}
	// Messenger sends direct messages. Key names the message, so that after an unclear answer FindDM can find whether it was sent.
	Messenger interface {
		SendDM(ctx context.Context, person, key string, a Answer) error
		FindDM(ctx context.Context, person, key string, since time.Time) (bool, error)
	}
	// Zones returns a person's time zone; "" if unknown.
	Zones interface {
		Zone(ctx context.Context, person string) string
	}
	// Publisher shows homes.
	Publisher interface {
		Publish(ctx context.Context, person string, h Home) error
	}
)

var _ handler = (*Bot)(nil)

// Modal is a dialog; without Submit it only shows something. A transport opens it with the trigger of a command or button.
type Modal struct {
	ID     string // its purpose; comes back as Form.ID
	Note   string // comes back as Form.Note; at most 3000 bytes that need no escaping
	Title  string
	Submit string // the label of the submit button
	Parts  []Part
}

// Part is a section of a modal or a home, shown in this order: title, lines, log, field, buttons and links.
type Part struct {
	Title   string
	Lines   []string
	Quiet   bool     // the lines are an aside
	Log     []string // as a program printed them
	Field   *Field
	Buttons []Button
	Links   []Link
}

// FieldKind is a field's type of value.
type FieldKind string

// The kinds of field.
const (
	FieldText   FieldKind = "text"
	FieldLong   FieldKind = "long"   // text of several lines
	FieldNumber FieldKind = "number" // whole
	FieldChoice FieldKind = "choice" // one of Choices
	FieldMany   FieldKind = "many"   // any of Choices
)

// Field is a form field.
type Field struct {
	Name        string // unique within a modal
	Kind        FieldKind
	Label, Hint string
	Placeholder string
	Values      []string // initial values; for choices, their values
	Choices     []Choice
	Typeahead   bool // choices are loaded while someone types; see Bot.Choices
	Optional    bool
	Live        bool // changes are sent at once: see Bot.Fill
	Most        int  // characters of text; 0: the chat's limit
	Min, Max    *int // of numbers
}

// Choice is an option of a field.
type Choice struct{ Name, Value, Hint string }

// Form is a modal's content when someone changes a field or submits it.
type Form struct {
	ID, Note string
	Values   map[string][]string // by field; none for an empty one
	Changed  string              // the changed field; "" for none
	Pressed  string              // the value of the pressed button in the modal; "" for none
}

// Submitted is the result of a submitted modal. At most one of Errors, Modal and Answer is set; with none of them the modal just closes.
type Submitted struct {
	Errors map[string]string // by field; the modal stays open and shows them at the fields
	Modal  *Modal            // replaces the modal
	Answer *Answer           // the modal closes, and its sender sees this in Channel, or as a direct message if that's ""
	// Late is the same modal with errors and values filled in, for when it's too late for Errors.
	Late    *Modal
	Channel string
}

// Home is a person's home in the chat.
type Home struct{ Parts []Part }

// Unfurl is a link preview.
type Unfurl struct {
	URL   string // as written
	Title string
	Lines []string
	Link  Link
}

// Confirm is a button's confirmation dialog.
type Confirm struct{ Title, Text, Yes, No string }

// InModal shows an answer in a modal, for buttons pressed where no message can be replaced, such as in a home.
func InModal(a Answer) Modal {
	return Modal{ID: "answer", Title: "Muster", Parts: []Part{{Title: a.Title, Lines: a.Lines, Log: a.Log}, {Buttons: a.Buttons, Links: a.Links}}}
}
