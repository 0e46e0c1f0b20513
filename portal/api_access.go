package portal

import (
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
)

type certificateInput struct {
	IDInput
	Body struct {
		PublicKey string `json:"public_key" maxLength:"16384" doc:"The line of a public key file: ed25519, ecdsa, or rsa of at least 2048 bits"`
		TTL       string `json:"ttl,omitempty" maxLength:"32" doc:"For how long, as in 30m or 2h; at most 8h, and not beyond the lease. 1h where it is left out"`
	}
}

func (p *Portal) apiClusterCertificate(ctx context.Context, in *certificateInput) (*body[cluster.Certificate], error) {
	var ttl time.Duration
	if in.Body.TTL != "" {
		var err error
		if ttl, err = app.ParseLength(in.Body.TTL); err != nil || ttl <= 0 {
			return nil, p.fail(ctx, &app.Error{Code: app.EInvalid, Field: "ttl", Message: "That is not a length of time.", Hint: "Write it like 30m or 2h."})
		}
	}
	c, err := p.muster.ClusterCertificate(ctx, caller(ctx), in.ID, in.Body.PublicKey, ttl)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[cluster.Certificate]{c}, nil
}
