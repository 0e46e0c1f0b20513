package server

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"muster/app"
	"muster/app/plugin"
)

// Plug adds the plugins' types and automators to the families.
func (c *Config) Plug(ctx context.Context, log *slog.Logger) error {
	if err := c.Plugins.Plug(ctx, log, nil); err != nil {
		return err
	}
	return c.Automators.Plug(ctx, log, nil)
}

// plug adds the plugins, but for those that were removed: they aren't even asked what they are.
func (s *Server) plug(ctx context.Context) error {
	if err := plugin.LoadPins(ctx, s.Store); err != nil {
		return err
	}
	return s.Plug(ctx, s.Log)
}

// programs are the files in the directories of plugins.
func (s *Server) programs() ([]plugin.Program, error) {
	providers, err := s.Plugins.Programs()
	if err != nil {
		return nil, err
	}
	automators, err := s.Automators.Programs()
	return slices.Concat(providers, automators), err
}

// followPlugins obeys what other servers of this database decide about plugins.
func (s *Server) followPlugins(ctx context.Context) {
	changed, stop := s.Store.Watch(app.PluginsTopic())
	defer stop()
	for {
		var again <-chan time.Time // a decision that couldn't be read is read again
		if err := plugin.LoadPins(ctx, s.Store); err != nil && ctx.Err() == nil {
			s.Log.Error("can't read which plugins were registered or removed", "error", err)
			again = time.After(5 * time.Second)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-changed:
		}
	}
}
