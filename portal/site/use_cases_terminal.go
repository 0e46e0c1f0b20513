package site

import (
	"context"
	"io"
	"net"

	"muster/app"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/nodefile"
	"muster/app/port"
	"muster/app/terminal"
)

// Terminals are terminals on nodes.
type Terminals interface {
	// OpenTerminal opens a terminal, or continues one; see terminal.Service.
	OpenTerminal(ctx context.Context, a app.Actor, o terminal.Open) (*terminal.Client, error)
	Terminals(ctx context.Context, a app.Actor, f terminal.Filter) ([]terminal.Terminal, error)
	// RecordedTerminal returns a terminal whose recording the actor may play; Recording writes it, as asciicast v2.
	RecordedTerminal(ctx context.Context, a app.Actor, id string) (terminal.Terminal, error)
	Recording(ctx context.Context, a app.Actor, id string, w io.Writer) error
	TerminalSettings(ctx context.Context, a app.Actor) (terminal.Settings, error)
	SetTerminalSettings(ctx context.Context, a app.Actor, s terminal.Settings) (terminal.Settings, error)
	EndTerminal(ctx context.Context, a app.Actor, id string) error
}

// NodeAccess connects to nodes.
type NodeAccess interface {
	// SSHStream connects to the SSH port of a node.
	SSHStream(ctx context.Context, a app.Actor, cluster, node string) (net.Conn, error)
	// CheckSSHStream returns why the actor may no longer be connected.
	CheckSSHStream(ctx context.Context, a app.Actor, cluster, node string) error
}

// NodeFiles copies files of nodes.
type NodeFiles interface {
	// NodeFiles lists a folder; its path is returned with errors, too.
	NodeFiles(ctx context.Context, a app.Actor, at nodefile.At) (nodefile.Folder, error)
	DownloadNodeFile(ctx context.Context, a app.Actor, at nodefile.At, begin func(f family.File) (io.Writer, error)) error
	// UploadNodeFile returns the path of the new file.
	UploadNodeFile(ctx context.Context, a app.Actor, u nodefile.Upload, content io.Reader) (string, error)
}

// Ports connects browsers to ports of nodes.
type Ports interface {
	// OpenPort returns a ticket, which lets a sign-in enter a port's own name, Redeem returns the pass for it, and Enter who comes with a pass.
	OpenPort(ctx context.Context, a app.Actor, signIn int64, at port.Address) (string, port.Address, error)
	Redeem(ctx context.Context, ticket, label string) (string, error)
	Enter(ctx context.Context, pass, label string, v identity.Visit) (app.Actor, error)
	DialPort(ctx context.Context, a app.Actor, at port.Address) (net.Conn, error)
}
