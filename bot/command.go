package bot

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
)

// command is one thing that can be said.
type command struct {
	name    string
	form    string // what stands behind the name
	what    string
	group   string // under which help shows it
	anybody bool   // also those who are not linked to an account
	do      func(ctx context.Context, r request) (Answer, error)
}

// deedFunc does what stands behind a button.
type deedFunc func(ctx context.Context, r request, d deed) (Answer, error)

// join returns all commands, in the order in which help shows them, and all deeds, each with the noun's part that does it.
func (b *Bot) join(u UseCases) ([]command, map[string]deedFunc) {
	catalogs, amendments := catalogs{u.Catalogs}, amendments{u.Clusters, u.Amendments}
	operations, leases, plans := operations{u.Operations, u.RollBacks}, leases{u.Leases}, plans{u.Clusters, u.Activity, b.creates}
	return []command{
			{"help", "[COMMAND]", "show all commands, or one", "Getting started", true, b.help},
			{"link", "", "link yourself to your account", "Getting started", true, b.accounts.link},
			{"catalog", "", "list the templates", "Getting started", false, catalogs.list},
			{"list", "", "list the clusters", "Clusters", false, b.clusters.list},
			{"status", "NAME", "show a cluster", "Clusters", false, b.clusters.show},
			{"create", "[[NAME] TEMPLATE [NODES] [8h]]", "create a cluster; alone it opens a form", "Clusters", false, b.creates.create},
			{"plan", "NAME, or [NAME] TEMPLATE [NODES] [8h]", "show the plan of what runs, or of what a create would do", "Clusters", false, plans.show},
			{"logs", "NAME [STEP or NODE]", "show the last lines of its log", "Clusters", false, b.clusters.logs},
			{"extend", "NAME [4h]", "let a cluster live longer", "Clusters", false, leases.move},
			{"resize", "NAME NODES", "change how many nodes a cluster has", "Changing clusters", false, amendments.resize},
			{"grow", "NAME [NODES]", "give it so many nodes more; one, unless you say", "Changing clusters", false, amendments.grow},
			{"shrink", "NAME [NODES]", "give back so many nodes; one, unless you say", "Changing clusters", false, amendments.shrink},
			{"add", "NAME SERVICE…", "add services", "Changing clusters", false, amendments.addServices},
			{"start", "NAME [SERVICE…]", "start its services", "Changing clusters", false, amendments.start},
			{"stop", "NAME [SERVICE…]", "stop its services", "Changing clusters", false, amendments.stop},
			{"restart", "NAME [SERVICE…]", "restart its services", "Changing clusters", false, amendments.restart},
			{"repair", "NAME [NODE…]", "make lost nodes anew", "Changing clusters", false, amendments.repair},
			{"delete", "NAME", "give back all machines of a cluster", "Clusters", false, b.clusters.deleteAsk},
			{"why", "NAME", "say why a cluster is not further", "Clusters", false, b.clusters.why},
			{"approve", "REQUEST [REASON]", "look at a request, and approve it", "Requests", false, b.requests.approveAsk},
			{"deny", "REQUEST REASON", "deny a request", "Requests", false, b.requests.deny},
			{"channel", "[use TENANT | reset]", "say whose this channel is, or change it (admins)", "For admins", true, channels{u.Workspaces, u.Channels, u.People}.tenant},
			{"answer", "[NAME]", "show what is asked of you, and answer it", "Requests", false, b.questions.list},
			{"orphans", "", "list orphaned machines, for admins", "For admins", false, orphans{u.Orphans}.list},
		}, map[string]deedFunc{
			doResize:        amendments.resizeNow,
			doAmend:         amendments.amend,
			doRepairAsk:     amendments.repairAsk,
			doDelete:        b.clusters.delete,
			doLogs:          b.clusters.logsOfStep,
			doResume:        operations.resume,
			doRollBackAsk:   operations.rollBackAsk,
			doRollBack:      operations.rollBack,
			doReviewApprove: b.requests.reviewAsk,
			doReviewDeny:    b.requests.reviewAsk,
			doReviewOffer:   b.requests.reviewAsk,
			doApproveAsk:    b.requests.look,
			doApprove:       b.requests.approve,
			doConfirm:       b.requests.confirm,
			doWithdraw:      b.requests.withdraw,
			doExtend:        leases.extend,
			doLease:         leases.show,
			doAnswer:        b.questions.ask,
			doQuestions:     b.questions.ofCluster,
			doCreate:        b.creates.open,
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

// find returns a command by its word; for a word that is none EInvalid, with the nearest.
func (b *Bot) find(p Person, word string) (command, error) {
	var names []string
	for _, c := range b.commands {
		if c.name == word {
			return c, nil
		}
		names = append(names, c.name)
	}
	e := &app.Error{Code: app.EInvalid, Reason: "unknown_command", Message: fmt.Sprintf("There is no command “%s”.", humanize.CutText(word, 40)),
		Hint: fmt.Sprintf("Type “%s help” for all of them.", p.Command)}
	if near := humanize.Nearest(word, names); near != "" {
		e.Hint = fmt.Sprintf("Did you mean “%s %s”? ", p.Command, near) + e.Hint
	}
	return command{}, e
}

// usage says what the command looks like.
func (r request) usage() error {
	c := r.command
	return &app.Error{Code: app.EInvalid, Reason: "usage", Message: fmt.Sprintf("“%s” is said like this: %s %s %s", c.name, r.person.Command, c.name, c.form)}
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
		c, err := b.find(r.person, strings.ToLower(r.words[0]))
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
		for _, c := range b.commands {
			if c.group == group {
				a.Lines = append(a.Lines, "  "+r.helpLine(c))
			}
		}
	}
	a.Lines = append(a.Lines, "", fmt.Sprintf("Type “%s help COMMAND” for examples. Times are in your own time zone.", r.person.Command))
	return a, nil
}
