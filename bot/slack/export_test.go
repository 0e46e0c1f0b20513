package slack

import (
	"context"

	"muster/app"
)

// Fresh gives the tokens of a workspace, and sees to new ones where they end soon, as every call does.
func (s *Server) Fresh(ctx context.Context, team string) (app.ChatTokens, error) {
	return s.fresh(ctx, team)
}
