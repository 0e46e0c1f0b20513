package bot

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/identity"
	"muster/app/phrase"
)

// command is one thing that can be said.
type command struct {
	name    string
	form    string // what stands behind the name
	what    string
	group   string // under which help shows it
	anybody bool   // also those who are not linked to an account
	do      func(b *Bot, ctx context.Context, r request) (Answer, error)
}

// commands are all of them, in the order in which help shows them.
func commands() []command {
	return []command{
		{"help", "[COMMAND]", "show all commands, or one", "Getting started", true, (*Bot).help},
		{"link", "", "link yourself to your account", "Getting started", true, (*Bot).link},
		{"catalog", "", "list the templates", "Getting started", false, (*Bot).catalog},
		{"list", "", "list the clusters", "Clusters", false, (*Bot).clusterList},
		{"status", "NAME", "show a cluster", "Clusters", false, (*Bot).clusterShow},
		{"create", "[[NAME] TEMPLATE [NODES] [8h]]", "create a cluster; alone it opens a form", "Clusters", false, (*Bot).clusterCreate},
		{"plan", "NAME, or [NAME] TEMPLATE [NODES] [8h]", "show the plan of what runs, or of what a create would do", "Clusters", false, (*Bot).plan},
		{"logs", "NAME [STEP or NODE]", "show the last lines of its log", "Clusters", false, (*Bot).logs},
		{"extend", "NAME [4h]", "let a cluster live longer", "Clusters", false, (*Bot).leaseExtend},
		{"resize", "NAME NODES", "change how many nodes a cluster has", "Changing clusters", false, (*Bot).clusterResize},
		{"grow", "NAME [NODES]", "give it so many nodes more; one, unless you say", "Changing clusters", false, (*Bot).clusterGrow},
		{"shrink", "NAME [NODES]", "give back so many nodes; one, unless you say", "Changing clusters", false, (*Bot).clusterShrink},
		{"add", "NAME SERVICE…", "add services", "Changing clusters", false, (*Bot).serviceAdd},
		{"start", "NAME [SERVICE…]", "start its services", "Changing clusters", false, (*Bot).serviceStart},
		{"stop", "NAME [SERVICE…]", "stop its services", "Changing clusters", false, (*Bot).serviceStop},
		{"restart", "NAME [SERVICE…]", "restart its services", "Changing clusters", false, (*Bot).clusterRestart},
		{"repair", "NAME [NODE…]", "make lost nodes anew", "Changing clusters", false, (*Bot).nodeRepair},
		{"delete", "NAME", "give back all machines of a cluster", "Clusters", false, (*Bot).clusterDeleteAsk},
		{"why", "NAME", "say why a cluster is not further", "Clusters", false, (*Bot).clusterWhy},
		{"approve", "REQUEST [REASON]", "look at a request, and approve it", "Requests", false, (*Bot).requestApproveAsk},
		{"deny", "REQUEST REASON", "deny a request", "Requests", false, (*Bot).requestDeny},
		{"channel", "[use TENANT | reset]", "say whose this channel is, or change it (admins)", "For admins", true, (*Bot).channel},
		{"answer", "[NAME]", "show what is asked of you, and answer it", "Requests", false, (*Bot).questions},
		{"orphans", "", "list orphaned machines, for admins", "For admins", false, (*Bot).orphans},
	}
}

// groups are those of the commands, in the order in which help shows them.
var groups = []string{"Getting started", "Clusters", "Changing clusters", "Requests", "For admins"}

// examples are what help shows of one command.
var examples = map[string][]string{
	"create":  {"create", "create web", "create shop web 3 8h", "create shop web 3 for 2d"},
	"plan":    {"plan shop", "plan web 3"},
	"logs":    {"logs shop", "logs shop n1"},
	"extend":  {"extend shop 4h"},
	"resize":  {"resize shop 5"},
	"grow":    {"grow shop", "grow shop 2"},
	"shrink":  {"shrink shop"},
	"add":     {"add shop cache"},
	"restart": {"restart shop", "restart shop web"},
	"repair":  {"repair shop n2"},
	"approve": {"approve 12", "approve 12 fine by me"},
	"deny":    {"deny 12 too many nodes"},
	"channel": {"channel", "channel use acme", "channel reset"},
}

// find gives a command by its word; for a word that is none EInvalid, with the nearest.
func find(p Person, word string) (command, error) {
	var names []string
	for _, c := range commands() {
		if c.name == word {
			return c, nil
		}
		names = append(names, c.name)
	}
	e := &app.Error{Code: app.EInvalid, Reason: "unknown_command", Message: fmt.Sprintf("There is no command “%s”.", phrase.CutText(word, 40)),
		Hint: fmt.Sprintf("Type “%s help” for all of them.", p.Command)}
	if near := phrase.Nearest(word, names); near != "" {
		e.Hint = fmt.Sprintf("Did you mean “%s %s”? ", p.Command, near) + e.Hint
	}
	return command{}, e
}

// usage says what a command looks like.
func (r request) usage(name string) error {
	c, _ := find(r.person, name)
	return &app.Error{Code: app.EInvalid, Reason: "usage", Message: fmt.Sprintf("“%s” is said like this: %s %s %s", name, r.person.Command, name, c.form)}
}

// Limits of what is said.
const (
	mostText  = 2000 // bytes
	mostWords = 300
)

// split reads words. What cannot be seen is refused, since it is never meant.
func split(text string) ([]string, error) {
	bad := func(message string) error { return &app.Error{Code: app.EInvalid, Field: "text", Message: message} }
	switch {
	case len(text) > mostText:
		return nil, bad(fmt.Sprintf("That is too long: at most %d letters are read.", mostText))
	case !utf8.ValidString(text):
		return nil, bad("That is not text.")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }):
		return nil, bad("That has control characters in it.")
	}
	words := strings.Fields(text)
	if len(words) > mostWords {
		return nil, bad(fmt.Sprintf("That is too long: at most %d words are read.", mostWords))
	}
	return words, nil
}

// helpLine is a command with what it does.
func (r request) helpLine(c command) string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s", r.person.Command, c.name, c.form), " ") + " – " + c.what
}

// help lists all commands by what they are for, or shows one.
func (b *Bot) help(_ context.Context, r request) (Answer, error) {
	portal := []Link{{"Open the portal", b.Page(app.Subject{Kind: app.SubjectHome})}}
	if len(r.words) > 0 {
		c, err := find(r.person, strings.ToLower(r.words[0]))
		if err != nil {
			return Answer{}, err
		}
		a := Answer{Title: r.person.Command + " " + c.name, Lines: []string{r.helpLine(c)}, Links: portal}
		for _, e := range examples[c.name] {
			a.Lines = append(a.Lines, "Example: "+r.person.Command+" "+e)
		}
		return a, nil
	}
	a := Answer{Title: "What you can say", Links: portal}
	for _, group := range groups {
		if len(a.Lines) > 0 {
			a.Lines = append(a.Lines, "")
		}
		a.Lines = append(a.Lines, group)
		for _, c := range commands() {
			if c.group == group {
				a.Lines = append(a.Lines, "  "+r.helpLine(c))
			}
		}
	}
	a.Lines = append(a.Lines, "", fmt.Sprintf("Type “%s help COMMAND” for examples. Times are in your own time zone.", r.person.Command))
	return a, nil
}

func (b *Bot) link(ctx context.Context, r request) (Answer, error) {
	at, err := b.muster.LinkStart(ctx, r.person.Kind, r.person.External, r.person.Label)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Title: "Link yourself to your account", Lines: []string{
		fmt.Sprintf("Open this within %d minutes, sign in, and confirm. It works once, and is for you alone: whoever confirms it will be acted for by you.", int(identity.LinkLife.Minutes()))},
		Links: []Link{{"Link my account", b.Page(at)}}}, nil
}
