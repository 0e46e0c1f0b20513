package family

import (
	"context"
	"io"
	"io/fs"
	"strings"

	"muster/app"
	"muster/app/template"
)

// Automator knows how to make one tool install, configure or start software. It is given a shell on the node and
// never opens a connection itself. Running any call twice is harmless.
type Automator interface {
	// Descriptor says which fields a service action of this kind has.
	Descriptor() Descriptor
	// Check validates the fields of an action when a catalog is read. The error is EInvalid with Field set.
	Check(fields map[string]string) error
	// Bootstrap prepares a node once for this tool. It runs at least one command there, and so fails on a node that doesn't answer.
	Bootstrap(ctx context.Context, sh Shell, n NodeContext, out Output) error
	// Run carries out one service action. A tool that ran and failed is EScript, with its exit code in the message.
	Run(ctx context.Context, sh Shell, call ServiceCall, out Output) error
}

// DryRunner is an automator whose tool can say what an action would change without changing it.
type DryRunner interface {
	Automator
	// DryRun says what Run would change on the node as it is now. Nothing of the node's is changed by it, save what the tool itself keeps in
	// its caches. Errors are those of Run; a tool that cannot tell for this action is EInvalid, reason "no_dry_run".
	DryRun(ctx context.Context, sh Shell, call ServiceCall, out Output) (Changes, error)
}

// InputReader is an automator that can say what an action depends on. Without it, an action may depend on the node that it runs on.
type InputReader interface {
	Automator
	// Inputs returns the part of a configuration that an action with these fields can see, or why what it does may differ between nodes.
	Inputs(fields map[string]string, config map[string]any) (seen map[string]any, why string)
}

// Changes are what an action would change on a node. The zero value is: nothing.
type Changes struct {
	Texts []string `json:"texts"`          // a line each, for people, at most MostChanges: "File[/etc/motd]: its content"
	More  int      `json:"more,omitempty"` // beyond these
}

// MostChanges is how many changes are reported by themselves.
const MostChanges = 50

// Add notes a change, as one line of at most 300 bytes.
func (c *Changes) Add(text string) {
	if len(c.Texts) >= MostChanges {
		c.More++
		return
	}
	if text = OneLine(text); len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	c.Texts = append(c.Texts, text)
}

// Shell is a way to act on one node. Errors are *Error: ETransient (connection lost), ETimeout, EHostKey, ECredentials.
type Shell interface {
	// Run runs a command line with sh on the node until it ends, streaming both its outputs line by line, and returns
	// its exit code. The error is for when there is no exit code to tell. When ctx ends, the command is killed.
	Run(ctx context.Context, cmd Command, out Output) (exit int, err error)
	// Put writes a file with the given permissions, replacing it as a whole or not at all.
	Put(ctx context.Context, path string, mode fs.FileMode, r io.Reader) error
	Close() error
}

// Command is what to run. Sudo asks for root rights, which is a no-op where the user is root already.
type Command struct {
	Line  string
	Stdin io.Reader
	Sudo  bool
	// Once is for the command that does a step's work. Where an earlier attempt of the same step has done the same (line
	// and input) with exit code 0, it is not done again: Run returns 0, and the lines may be lost. Where one is still
	// running, Run waits for it and returns its exit code. So Line and Stdin must be the same in every attempt, and no more
	// may be made of the outputs than to show them. Stdin must know its length (Len) and be short, 8 MiB at most. Line may
	// be run by a fork of a shell, see Fork. It then finds a path in the variable muster_scratch: files whose
	// names begin with it and a dot are seen by this user alone, and emptied when the command has ended, however it did.
	Once bool
	// Fork is for a Line that may be run by a fork of a shell, which saves the node the start of a program: $$ is not its own then, and it
	// sets each of its variables before it looks at it.
	Fork bool
	// Text is for a command that runs Once and whose Stdin is text: the shell that runs Line finds it in the variable
	// muster_input, which is not exported, where it can have it there, and on its standard input where it cannot.
	Text bool
}

// The streams. StreamSystem carries lines that Muster itself says.
const (
	StreamOut    app.Stream = "stdout"
	StreamErr    app.Stream = "stderr"
	StreamSystem app.Stream = "muster"
)

// OutputCut begins the lines of StreamSystem that say that lines of a command were left out, since they were too many.
const OutputCut = "output cut: "

// Output receives the lines of a command as they come, without the line break. It may be called from two goroutines.
type Output func(s app.Stream, line string)

// NodeContext says on which node an automator acts.
type NodeContext struct {
	Tenant   string
	Cluster  string
	Node     string
	Hostname string
	Owner    string
}

// ServiceCall is one service action on one node. Config is the cluster configuration with all macros expanded for this
// node. Operation and Step are the same for every attempt of a step and of no other, and so is all the rest.
type ServiceCall struct {
	NodeContext
	Operation int64
	Step      string // its id in the plan

	Service string
	Action  app.Action
	Fields  map[string]string
	Config  map[string]any
	// Resources is the directory on the node in which the action's resources lie, by name; "" where it has none. What lies there is never
	// written to.
	Resources string
	// Refs are those resources, with their types, as they were pinned.
	Refs []template.ResourceRef
	// Services are those of this node, sorted; Peers are this node and those that carry a service which the cluster configuration names
	// (what else there is may have no address yet).
	Services []string
	Peers    []HostEntry
	// Tell takes what the action found out, once it has succeeded: names as identifiers (a-z, 0-9 and _, a letter first, 64 at most), values as
	// texts of at most 4 KiB, 50 of them. Later steps speak of them as %fact.<service>.<name>%. nil where no one listens.
	Tell func(facts map[string]string)
	// Exited takes the exit code of the script, whatever it is, from automators that have one. nil where no one listens.
	Exited func(code int)
}

// HostEntry is one line of a hosts file.
type HostEntry struct {
	Address  string
	Names    []string // the full name first, the node's own name in the cluster last
	Services []string `json:",omitempty"` // of the node, sorted
}

// OneLine makes a text fit for a title.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
