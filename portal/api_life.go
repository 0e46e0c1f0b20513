package portal

import (
	"context"

	"muster/app"
)

type renameInput struct {
	IDInput
	Body struct {
		Name string `json:"name" maxLength:"128" doc:"The new name. The id and the host names stay"`
	}
}

type transferInput struct {
	IDInput
	Body struct {
		To string `json:"to" maxLength:"128" doc:"The new owner: a user of the same tenant"`
	}
}

func (p *Portal) apiClusterRename(ctx context.Context, in *renameInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.life().RenameCluster(ctx, caller(ctx), in.ID, in.Body.Name))
}

func (p *Portal) apiClusterTransfer(ctx context.Context, in *transferInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.life().TransferCluster(ctx, caller(ctx), in.ID, in.Body.To))
}
