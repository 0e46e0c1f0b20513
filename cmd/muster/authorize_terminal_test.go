package main

import (
	"context"
	"io"
	"strings"
	"time"

	"muster/app/all"
	"muster/app/family"
	"muster/app/nodefile"
	"muster/app/port"
	"muster/app/terminal"
)

// terminal makes an open terminal of the owner, which is recorded.
func (s *scene) terminal(cluster string) terminal.Terminal {
	s.used = true
	x := terminal.Terminal{ID: s.fresh("terminal"), Tenant: s.tenant, Cluster: cluster, Node: "n1", User: s.owner, Recorded: true, OpenedAt: time.Now(),
		Size: family.TerminalSize{Columns: 80, Rows: 24}}
	who := s.boss()
	who.User = s.owner
	s.must(s.server.Store.AddTerminal(s.t.Context(), who, x))
	s.must(s.server.Store.AddChunk(s.t.Context(), terminal.Chunk{Terminal: x.ID, Events: []byte(`[0.1,"o","$ "]` + "\n"), Seconds: 1}))
	return x
}

// Terminals, in the matrix. No node of it has a machine, which is the answer to those who may.
var terminalTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"OpenTerminal": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Terminal.OpenTerminal(ctx, s.actor, terminal.Open{Cluster: s.cluster(), Node: "n1"})
		return err
	},
	"NodeFiles": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.NodeFiles.NodeFiles(ctx, s.actor, nodefile.At{Cluster: s.cluster(), Node: "n1"})
		return err
	},
	"DownloadNodeFile": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.NodeFiles.DownloadNodeFile(ctx, s.actor, nodefile.At{Cluster: s.cluster(), Node: "n1", Path: "f"},
			func(family.File) (io.Writer, error) { return io.Discard, nil })
	},
	"UploadNodeFile": func(ctx context.Context, a *all.Services, s *scene) error {
		u := nodefile.Upload{Folder: nodefile.At{Cluster: s.cluster(), Node: "n1"}, Name: "f"}
		_, err := a.NodeFiles.UploadNodeFile(ctx, s.actor, u, strings.NewReader("x"))
		return err
	},
	"SSHStream": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.NodeAccess.SSHStream(ctx, s.actor, s.cluster(), "n1")
		return err
	},
	"CheckSSHStream": func(ctx context.Context, a *all.Services, s *scene) error {
		return a.NodeAccess.CheckSSHStream(ctx, s.actor, s.cluster(), "n1")
	},
	"OpenPort": func(ctx context.Context, a *all.Services, s *scene) error {
		_, _, err := a.Port.OpenPort(ctx, s.actor, 1, port.Address{Port: 80, Cluster: s.cluster(), Node: "n1"})
		return err
	},
	"DialPort": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Port.DialPort(ctx, s.actor, port.Address{Port: 80, Cluster: s.cluster(), Node: "n1"})
		return err
	},
	"Terminals": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Terminal.Terminals(ctx, s.actor, terminal.Filter{})
		return err
	},
	"RecordedTerminal": func(ctx context.Context, a *all.Services, s *scene) error {
		s.hidden = true
		_, err := a.Terminal.RecordedTerminal(ctx, s.actor, s.terminal("c-1").ID)
		return err
	},
	"Recording": func(ctx context.Context, a *all.Services, s *scene) error {
		s.hidden = true
		return a.Terminal.Recording(ctx, s.actor, s.terminal("c-1").ID, io.Discard)
	},
	"EndTerminal": func(ctx context.Context, a *all.Services, s *scene) error {
		s.hidden = true
		return a.Terminal.EndTerminal(ctx, s.actor, s.terminal("c-1").ID)
	},
	"TerminalSettings": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Terminal.TerminalSettings(ctx, s.actor)
		return err
	},
	"SetTerminalSettings": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Terminal.SetTerminalSettings(ctx, s.actor, terminal.Settings{KeepDays: 3})
		return err
	},
}
