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

// command is a slash command.
type command struct {
	name    string
	form    string // the arguments
	what    string
	group   string // heading in help
	anybody bool   // also without a linked account
	do      func(ctx context.Context, r request) (Answer, error)
}

// actionFunc handles a button.
type actionFunc func(ctx context.Context, r request, d action) (Answer, error)

// join returns all commands, in the order of help, and all actions, each with its handler.
func (b *Bot) join(u UseCases) ([]command, map[string]actionFunc) {
	catalogs, updates := catalogs{u.Catalogs}, updates{u.Clusters, u.Updates}
	operations, leases, plans := operations{u.Operations, u.RollBacks}, leases{u.Leases}, plans{u.Clusters, u.Activity, b.creates}
	idles := idles{u.Idle}
	return []command{
			{"help", "[COMMAND]", "show help for all commands, or one", "Getting started", true, b.help},
			{"link", "", "link your Muster account", "Getting started", true, b.accounts.link},
			{"catalog", "", "list templates", "Getting started", false, catalogs.list},
			{"list", "", "list clusters", "Clusters", false, b.clusters.list},
			{"status", "NAME", "show a cluster", "Clusters", false, b.clusters.show},
			{"create", "[[NAME] TEMPLATE [NODES] [8h]]", "create a cluster; without arguments, open the form", "Clusters", false, b.creates.create},
			{"plan", "NAME, or [NAME] TEMPLATE [NODES] [8h]", "show the plan of the current operation, or preview a new cluster", "Clusters", false, plans.show},
			{"logs", "NAME [STEP or NODE]", "show the end of a cluster's log", "Clusters", false, b.clusters.logs},
			{"extend", "NAME [4h]", "extend a cluster's lease", "Clusters", false, leases.move},
			{"keep", "NAME [2h]", "keep an idle cluster running, or show its use", "Clusters", false, idles.keep},
			{"resize", "NAME NODES", "change the number of nodes", "Changing clusters", false, updates.resize},
			{"grow", "NAME [NODES]", "add nodes (default: 1)", "Changing clusters", false, updates.grow},
			{"shrink", "NAME [NODES]", "remove nodes (default: 1)", "Changing clusters", false, updates.shrink},
			{"add", "NAME SERVICE…", "add services", "Changing clusters", false, updates.addServices},
			{"start", "NAME [SERVICE…]", "start services (default: all)", "Changing clusters", false, updates.start},
			{"stop", "NAME [SERVICE…]", "stop services (default: all)", "Changing clusters", false, updates.stop},
			{"restart", "NAME [SERVICE…]", "restart services (default: all)", "Changing clusters", false, updates.restart},
			{"repair", "NAME [NODE…]", "repair a cluster and replace lost nodes", "Changing clusters", false, updates.repair},
			{"actions", "NAME", "list the actions that a cluster's template offers", "Running actions", false, b.runs.list},
			{"run", "NAME [ACTION [PARAMETER=VALUE…]]", "run an action on a cluster's nodes; without values, open the form", "Running actions", false, b.runs.run},
			{"delete", "NAME", "delete a cluster and all its machines", "Clusters", false, b.clusters.deleteAsk},
			{"why", "NAME", "show what a cluster is waiting for", "Clusters", false, b.clusters.why},
			{"approve", "REQUEST [REASON]", "review and approve a request", "Requests", false, b.requests.approveAsk},
			{"deny", "REQUEST REASON", "deny a request", "Requests", false, b.requests.deny},
			{"channel", "[use TENANT | reset]", "show or change this channel's tenant", "For admins", true, channels{u.Workspaces, u.Channels, u.People}.tenant},
			{"answer", "[NAME]", "list manual steps waiting for you and answer them", "Requests", false, b.questions.list},
			{"orphans", "", "list orphaned machines", "For admins", false, orphans{u.Orphans}.list},
		}, map[string]actionFunc{
			doResize:        updates.resizeNow,
			doUpdate:        updates.update,
			doRepairAsk:     updates.repairAsk,
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
			doKeep:          idles.more,
			doAnswer:        b.questions.ask,
			doManualSteps:   b.questions.ofCluster,
			doCreate:        b.creates.open,
			doRunAsk:        b.runs.open,
			doCancelRun:     b.runs.cancel,
		}
}

// groups are the headings of help, in order.
var groups = []string{"Getting started", "Clusters", "Changing clusters", "Running actions", "Requests", "For admins"}

// examples are shown in a command's own help.
var examples = map[string][]string{
	"create":  {"create", "create web", "create shop web 3 8h", "create shop web 3 for 2d"},
	"plan":    {"plan shop", "plan web 3"},
	"logs":    {"logs shop", "logs shop n1"},
	"extend":  {"extend shop 4h"},
	"keep":    {"keep shop 2h"},
	"resize":  {"resize shop 5"},
	"grow":    {"grow shop", "grow shop 2"},
	"shrink":  {"shrink shop"},
	"add":     {"add shop cache"},
	"restart": {"restart shop", "restart shop web"},
	"repair":  {"repair shop n2"},
	"run":     {"run shop", "run shop backup", "run shop backup keep=7"},
	"approve": {"approve 12", "approve 12 fine by me"},
	"deny":    {"deny 12 too many nodes"},
	"channel": {"channel", "channel use acme", "channel reset"},
}

// find returns a command by name; for an unknown name, EInvalid with the nearest.
func (b *Bot) find(p Person, word string) (command, error) {
	var names []string
	for _, c := range b.commands {
		if c.name == word {
			return c, nil
		}
		names = append(names, c.name)
	}
	e := &app.Error{Code: app.EInvalid, Reason: "unknown_command", Message: fmt.Sprintf("“%s” isn't a command.", humanize.CutText(word, 40)),
		Hint: fmt.Sprintf("Type “%s help” for a list.", p.Command)}
	if near := humanize.Nearest(word, names); near != "" {
		e.Hint = fmt.Sprintf("Did you mean “%s %s”? ", p.Command, near) + e.Hint
	}
	return command{}, e
}

// usage is the error for wrong arguments.
func (r request) usage() error {
	c := r.command
	return &app.Error{Code: app.EInvalid, Reason: "usage", Message: fmt.Sprintf("Usage: %s %s %s", r.person.Command, c.name, c.form)}
}

// Limits of a command's text.
const (
	maxText  = 2000 // bytes
	maxWords = 300
)

// split splits text into words. Control characters are rejected, since they're never typed on purpose.
func split(text string) ([]string, error) {
	bad := func(message string) error { return &app.Error{Code: app.EInvalid, Field: "text", Message: message} }
	switch {
	case len(text) > maxText:
		return nil, bad(fmt.Sprintf("The command is too long: use at most %d characters.", maxText))
	case !utf8.ValidString(text):
		return nil, bad("The command isn't valid text.")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }):
		return nil, bad("The command contains control characters.")
	}
	words := strings.Fields(text)
	if len(words) > maxWords {
		return nil, bad(fmt.Sprintf("The command is too long: use at most %d words.", maxWords))
	}
	return words, nil
}

// helpLine is a command with its description.
func (r request) helpLine(c command) string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s", r.person.Command, c.name, c.form), " ") + " – " + c.what
}

// help lists all commands by group, or describes one.
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
	a := Answer{Title: "Commands", Links: portal}
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
	a.Lines = append(a.Lines, "", fmt.Sprintf("Type “%s help COMMAND” for examples.", r.person.Command))
	return a, nil
}
