package cluster

import (
	"context"
	"time"

	"muster/app"
	"muster/app/sshaccess"
	"muster/app/template"
	"muster/portal/site"
)

type certificateInput struct {
	site.IDInput
	Body struct {
		PublicKey string `json:"public_key" maxLength:"16384" doc:"Public key in OpenSSH format: ed25519, ecdsa, or rsa of at least 2048 bits"`
		TTL       string `json:"ttl,omitempty" maxLength:"32" doc:"Validity, such as 30m or 2h; at most 8h, and not beyond the lease. The default is 1h"`
	}
}

func (p *accessPages) APICertificate(ctx context.Context, in *certificateInput) (*site.Body[sshaccess.ClusterCertificate], error) {
	var ttl time.Duration
	if in.Body.TTL != "" {
		var err error
		if ttl, err = template.ParseLength(in.Body.TTL); err != nil || ttl <= 0 {
			return nil, p.Fail(ctx, &app.Error{Code: app.EInvalid, Field: "ttl", Message: "Invalid duration.", Hint: "Use a duration such as 30m or 2h."})
		}
	}
	c, err := p.ClusterAccess.ClusterCertificate(ctx, site.Caller(ctx), in.ID, in.Body.PublicKey, ttl)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[sshaccess.ClusterCertificate]{Body: c}, nil
}
