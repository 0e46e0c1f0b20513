package audit

import (
	"context"
	"net/url"

	"muster/app"
	"muster/app/identity"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

type Choice struct {
	Tenant string `query:"tenant" maxLength:"64" doc:"Tenant, for superadmins; * for all, default your own"`
	Who    string `query:"who" maxLength:"200" doc:"Actor"`
	Act    string `query:"act" maxLength:"100" doc:"Prefix of the action, such as cluster."`
	Object string `query:"object" maxLength:"300" doc:"Object of the action"`
	From   string `query:"from" maxLength:"40" doc:"Earliest day or time"`
	To     string `query:"to" maxLength:"40" doc:"Day or time to stop before"`
}

func (c Choice) filter() (app.AuditFilter, error) {
	return auditFilter(url.Values{"tenant": {c.Tenant}, "who": {c.Who}, "act": {c.Act}, "object": {c.Object}, "from": {c.From}, "to": {c.To}})
}

type auditListInput struct {
	Choice
	After       int64  `query:"after" minimum:"0" doc:"Number of the last entry of the previous page"`
	AfterTenant string `query:"after_tenant" maxLength:"64" doc:"Tenant of the entry in after, when listing all tenants"`
	Limit       int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"Maximum number of entries"`
}

type auditPage struct {
	Entries []app.AuditEntry `json:"entries"`
	More    bool             `json:"more" doc:"More entries follow"`
}

func (p *Service) apiList(ctx context.Context, in *auditListInput) (*site.Body[auditPage], error) {
	f, err := in.filter()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	f.After, f.AfterTenant, f.Limit = in.After, in.AfterTenant, in.Limit
	list, more, err := p.Audit.Audit(ctx, site.Caller(ctx), f)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[auditPage]{Body: auditPage{site.OrEmpty(list), more}}, nil
}

type auditExportInput struct {
	Choice
	Format string `query:"format" enum:"csv,jsonl" default:"jsonl" doc:"File format"`
}

func (p *Service) apiExport(ctx context.Context, in *auditExportInput) (*huma.StreamResponse, error) {
	f, err := in.filter()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	a := site.Caller(ctx)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humachi.Unwrap(hc)
		if err := p.sendAudit(ctx, w, a, f, in.Format); err != nil {
			p.NoteRefusal(ctx, a, "audit", err)
			p.WriteProblem(w, r, err)
		}
	}}, nil
}

type auditProofs struct {
	Chains []identity.AuditProof `json:"chains"`
}

type auditVerifyInput struct {
	Tenant string `query:"tenant" maxLength:"64" doc:"Tenant, for superadmins; * for all, default your own"`
}

func (p *Service) apiVerify(ctx context.Context, in *auditVerifyInput) (*site.Body[auditProofs], error) {
	all, err := p.Audit.VerifyAudit(ctx, site.Caller(ctx), in.Tenant)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[auditProofs]{Body: auditProofs{site.OrEmpty(all)}}, nil
}

type secretList struct {
	Secrets []app.Secret `json:"secrets"`
}

func (p *Service) apiSecretList(ctx context.Context, _ *struct{}) (*site.Body[secretList], error) {
	all, err := p.Secrets.Secrets(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[secretList]{Body: secretList{site.OrEmpty(all)}}, nil
}

type SecretName struct {
	Name string `path:"name" maxLength:"64" doc:"Name of the secret, such as REGISTRY_TOKEN"`
}

type secretSetInput struct {
	SecretName
	// The value is the whole body as is, so that it needn't be encoded in JSON. The use case limits its size.
	RawBody []byte `contentType:"application/octet-stream"`
}

func (p *Service) apiSecretSet(ctx context.Context, in *secretSetInput) (*struct{}, error) {
	if err := p.Secrets.SetSecret(ctx, site.Caller(ctx), in.Name, in.RawBody); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiSecretDelete(ctx context.Context, in *SecretName) (*struct{}, error) {
	if err := p.Secrets.DeleteSecret(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}
