package slack

import (
	"context"

	"muster/app/chat"
)

// Fresh returns the tokens of a workspace, and sees to new ones where they end soon, as every call does.
func (s *Server) Fresh(ctx context.Context, team string) (chat.ChatTokens, error) {
	return s.teams.fresh(ctx, team)
}
