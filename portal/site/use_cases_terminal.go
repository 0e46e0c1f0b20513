package site

import (
	"context"

	"muster/app"
	"muster/app/terminal"
)

// Terminals are terminals on nodes.
type Terminals interface {
	// OpenTerminal opens a terminal, or continues one; see terminal.Service.
	OpenTerminal(ctx context.Context, a app.Actor, o terminal.Open) (*terminal.Client, error)
	Terminals(ctx context.Context, a app.Actor, f terminal.Filter) ([]terminal.Terminal, error)
	EndTerminal(ctx context.Context, a app.Actor, id string) error
}
