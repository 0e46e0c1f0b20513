package app

import (
	"context"
	"io"
	"io/fs"
)

// Automator knows how one tool is told to install, configure or start software. It is given a shell on the node and
// never opens a connection itself. Running any call twice is harmless.
type Automator interface {
	// Descriptor says which fields a service action of this kind has.
	Descriptor() Descriptor
	// Check validates the fields of an action when a catalog is read. The error is EInvalid with Field set.
	Check(fields map[string]string) error
	// Bootstrap prepares a node once for this tool.
	Bootstrap(ctx context.Context, sh Shell, n NodeContext, out Output) error
	// Run carries out one service action. A tool that ran and failed is EScript, with its exit code in the message.
	Run(ctx context.Context, sh Shell, call ServiceCall, out Output) error
}

// Shell is a way to act on one node. Errors are *Error: ETransient (connection lost), ETimeout, EHostKey, ECredentials.
type Shell interface {
	// Run runs a command line with sh on the node until it ends, streaming both its outputs line by line, and gives
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
	// and input) with exit code 0, it is not done again: Run gives 0, and the lines may be lost. Where one is still
	// running, Run waits for it and gives its exit code. So Line and Stdin must be the same in every attempt, and no more
	// may be made of the outputs than to show them. Stdin must know its length (Len) and be short, 8 MiB at most. Line may
	// be run by a fork of a shell, whose $$ is not its own. It then finds a path in the variable muster_scratch: files whose
	// names begin with it and a dot are seen by this user alone, and emptied when the command has ended, however it did.
	Once bool
	// Text is for a command that runs Once and whose Stdin is text: the shell that runs Line finds it in the variable
	// muster_input, which is not exported, where it can have it there, and on its standard input where it cannot.
	Text bool
}

// Stream tells the standard output from the standard error of a command.
type Stream string

// The streams. StreamSystem carries lines that Muster itself says.
const (
	StreamOut    Stream = "stdout"
	StreamErr    Stream = "stderr"
	StreamSystem Stream = "muster"
)

// Output receives the lines of a command as they come, without the line break. It may be called from two goroutines.
type Output func(s Stream, line string)

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
	Action  Action
	Fields  map[string]string
	Config  map[string]any
}
