package main

import (
	"context"
	"maps"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/layout"
	appoperation "muster/app/operation"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/usage"
)

// What there is about people, rules and money in the matrix.

// boss is an admin of the scene's tenant, who makes things for others.
func (s *scene) boss() app.Actor {
	return app.Actor{Tenant: s.tenant, User: "boss", Role: app.RoleAdmin, ProvenAt: time.Now()}
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil && app.CodeOf(err) != app.EConflict { // it already exists
		s.t.Fatal(err)
	}
}

// user makes the account of the owner; in another tenant one whose name is not to be found here.
func (s *scene) user() string {
	s.used = true
	name := s.owner
	if s.tenant != here {
		name = s.fresh("stranger")
	}
	s.must(s.server.Store.CreateUser(s.t.Context(), identity.User{Tenant: s.tenant, Name: name, Role: app.RoleUser, CreatedAt: time.Now()}))
	return name
}

// lesser makes an account that anybody who may change accounts may change.
func (s *scene) lesser() string {
	s.used = true
	name := s.fresh("lesser")
	s.must(s.server.Store.CreateUser(s.t.Context(), identity.User{Tenant: s.tenant, Name: name, Role: app.RoleUser, CreatedAt: time.Now()}))
	return name
}

func (s *scene) token() int64 {
	name := s.user()
	_, err := s.server.Services.Identity.Tokens.IssueToken(s.t.Context(), s.tenant, name, s.fresh("token"))
	s.must(err)
	all, err := s.server.Services.Identity.Tokens.Tokens(s.t.Context(), s.boss(), name)
	s.must(err)
	newest := int64(0)
	for _, t := range all {
		newest = max(newest, t.ID)
	}
	return newest
}

func (s *scene) session() (user string, id int64) {
	user = s.user()
	id, err := s.server.Store.BeginSession(s.t.Context(), identity.Session{Tenant: s.tenant, User: user, At: time.Now(), SeenAt: time.Now()})
	s.must(err)
	return user, id
}

func (s *scene) group() string {
	s.used = true
	name := s.fresh("group")
	_, err := s.server.Services.Identity.Groups.SaveGroup(s.t.Context(), s.boss(), identity.GroupChange{Name: name})
	s.must(err)
	return name
}

func (s *scene) secret() string {
	s.used = true
	name := s.fresh("SECRET")
	s.must(s.server.Services.Secret.SetSecret(s.t.Context(), s.boss(), name, []byte("value")))
	return name
}

func (s *scene) quota() string {
	s.used = true
	name, most := s.fresh("quotagroup"), 1e6
	_, err := s.server.Services.Identity.Groups.SaveGroup(s.t.Context(), s.boss(), identity.GroupChange{Name: name})
	s.must(err)
	_, err = s.server.Services.Policy.Quotas.SetQuota(s.t.Context(), s.boss(), policy.Quota{Scope: policy.QuotaGroup, Name: name, Limits: policy.Limits{Nodes: &most}})
	s.must(err)
	return name
}

func aPolicy(name string) policy.Policy {
	return policy.Policy{Name: name, Order: 100, Enabled: true, When: "nodes > 100000", Effect: policy.EffectRefuse, Reason: "too many"}
}

func (s *scene) policy() string {
	s.used = true
	name := s.fresh("policy")
	_, err := s.server.Services.Policy.Policies.SavePolicy(s.t.Context(), s.boss(), aPolicy(name))
	s.must(err)
	return name
}

// request makes one that waits for an approver.
func (s *scene) request() int64 {
	s.used, s.hidden = true, true
	p := policy.Policy{Name: "ask-first", Order: 1, Enabled: true, When: "nodes == 7", Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1}}
	_, err := s.server.Services.Policy.Policies.SavePolicy(s.t.Context(), s.boss(), p)
	s.must(err)
	r := cluster.CreateRequest{Name: s.fresh("asked"), Request: layout.Request{Template: "web", Size: 7}}
	a, err := s.server.Services.Cluster.Creates.Ask(s.t.Context(), app.Actor{Tenant: s.tenant, User: s.owner, Role: app.RoleUser}, r)
	if err != nil || a.Request.Status != cluster.RequestWaiting {
		s.t.Fatalf("%+v, %v", a.Request, err)
	}
	return a.Request.ID
}

// device has a program ask, and returns the code that its person would type.
func (s *scene) device() string {
	c, err := s.server.Services.Identity.Devices.StartDevice(s.t.Context(), s.fresh("host"), "muster", s.fresh("from"), nil)
	s.must(err)
	return c.User
}

// byRule are use cases of which not the role alone decides who may: their own tests try who does.
var byRule = map[string]string{
	"AnswerStep":           "whom the question names",
	"Confirm":              "the requester",
	"Withdraw":             "the requester",
	"Review":               "whom the policy names",
	"RunNow":               "approvers, and those who may set the windows of the cluster",
	"BreakGlass":           "whom the policy names",
	"ChangePassword":       "it takes the old one",
	"StepUp":               "it takes the password",
	"StepUpBy":             "it takes the identity provider",
	"StartAuthenticator":   "it takes a session and a password",
	"ConfirmAuthenticator": "it takes a session and a password",
	"AddSecurityKey":       "it takes a session and a password",
	"RemoveSecondFactor":   "it takes a session and a password",
	"ReplaceRecoveryCodes": "it takes a session and a password",
	"ResetSecondFactor":    "there has to be one, and not of a mightier role",
	"ShowLink":             "it takes the link",
	"ConfirmLink":          "it takes the link",
	"OwnEmail":             "it takes a session",
	"ChangeEmail":          "it takes a session, and a mail server",
	"ResendEmail":          "it takes a session, and an address that waits",
	"CancelEmailChange":    "it takes a session, and an address that waits",
	"ShowEmailChange":      "it takes the link",
	"ConfirmEmail":         "it takes the link",
	"ShowDevice":           "it takes the code",
	"AnswerDevice":         "it takes the code, and a fresh proof",
	"EndToken":             "it takes the token",
	"RemoveIdentity":       "there has to be one",
	"CreateToken":          "it takes a session",
	"CreateRobotToken":     "there has to be a robot",
	"ResetUserPassword":    "users can't reset the password of someone with a higher role",
	"DeleteTenant":         "nothing may be left",
	"StartChatInstall":     "it takes a session",
	"InstallChat":          "it takes what was begun",
}

// moreTries are those about people, rules and money.
var moreTries = map[string]func(ctx context.Context, a *appall.Services, s *scene) error{
	"User": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Users.User(ctx, s.actor, s.user())
		return err
	},
	"Users": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, _, err := a.Identity.Users.Users(ctx, s.actor, identity.UserFilter{})
		return err
	},
	"CreateUser": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, _, err := a.Identity.Users.CreateUser(ctx, s.actor, identity.NewUser{Name: s.fresh("new"), Role: app.RoleViewer})
		return err
	},
	"ChangeUser": func(ctx context.Context, a *appall.Services, s *scene) error {
		name := "Ada"
		_, err := a.Identity.Users.ChangeUser(ctx, s.actor, s.lesser(), identity.UserChange{FullName: &name})
		return err
	},
	"ResetUserPassword": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Users.ResetUserPassword(ctx, s.actor, s.lesser())
		return err
	},
	"DeleteUser": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Users.DeleteUser(ctx, s.actor, s.lesser(), "")
	},
	"Groups": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Groups.Groups(ctx, s.actor)
		return err
	},
	"SaveGroup": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Groups.SaveGroup(ctx, s.actor, identity.GroupChange{Name: s.fresh("g")})
		return err
	},
	"DeleteGroup": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Groups.DeleteGroup(ctx, s.actor, s.group())
	},
	"Tokens": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Tokens.Tokens(ctx, s.actor, s.user())
		return err
	},
	"CreateToken": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, _, err := a.Identity.Tokens.CreateToken(ctx, s.actor, identity.NewAPIToken{Label: s.fresh("t")})
		return err
	},
	"CreateRobotToken": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, _, err := a.Identity.Tokens.CreateRobotToken(ctx, s.actor, identity.NewAPIToken{Label: s.fresh("t"), User: s.lesser()})
		return err
	},
	"RevokeToken": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Tokens.RevokeToken(ctx, s.actor, s.token())
	},

	"EndToken": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Tokens.EndToken(ctx, s.actor)
		return err
	},
	"ShowDevice": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Devices.ShowDevice(ctx, s.actor, s.device())
		return err
	},
	"AnswerDevice": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Devices.AnswerDevice(ctx, s.actor, s.device(), true, nil)
	},

	"Sessions": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Sessions.Sessions(ctx, s.actor, s.user())
		return err
	},
	"RevokeSession": func(ctx context.Context, a *appall.Services, s *scene) error {
		user, id := s.session()
		return a.Identity.Sessions.RevokeSession(ctx, s.actor, user, id)
	},
	"RevokeAllSessions": func(ctx context.Context, a *appall.Services, s *scene) error {
		user, _ := s.session()
		_, err := a.Identity.Sessions.RevokeAllSessions(ctx, s.actor, user)
		return err
	},
	"ChangePassword": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Passwords.ChangePassword(ctx, s.actor, "the old one", "another good passphrase")
	},
	"StepUp": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.StepUps.StepUp(ctx, s.actor, "a password", identity.FactorProof{})
	},
	"SecondFactors": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Factors.SecondFactors(ctx, s.actor)
		return err
	},
	"StartAuthenticator": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Factors.StartAuthenticator(ctx, s.actor)
		return err
	},
	"ConfirmAuthenticator": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Factors.ConfirmAuthenticator(ctx, s.actor, "123456")
		return err
	},
	"AddSecurityKey": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Factors.AddSecurityKey(ctx, s.actor, "key ring", []byte("record"))
		return err
	},
	"RemoveSecondFactor": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Factors.RemoveSecondFactor(ctx, s.actor, "a factor")
	},
	"ReplaceRecoveryCodes": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Factors.ReplaceRecoveryCodes(ctx, s.actor)
		return err
	},
	"ResetSecondFactor": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Factors.ResetSecondFactor(ctx, s.actor, s.lesser())
	},
	"RequireSecondFactor": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Factors.RequireSecondFactor(ctx, s.actor, true)
	},
	"StepUpBy": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.StepUps.StepUpBy(ctx, s.actor, "https://idp.example.com", "ada")
	},
	"ShowLink": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Links.ShowLink(ctx, s.actor, "a link")
		return err
	},
	"ConfirmLink": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Links.ConfirmLink(ctx, s.actor, "a link")
		return err
	},
	"OwnEmail": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Emails.OwnEmail(ctx, s.actor)
		return err
	},
	"ChangeEmail": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Emails.ChangeEmail(ctx, s.actor, "new@example.com")
	},
	"ResendEmail": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Emails.ResendEmail(ctx, s.actor)
	},
	"CancelEmailChange": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Emails.CancelEmailChange(ctx, s.actor)
	},
	"ShowEmailChange": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Emails.ShowEmailChange(ctx, s.actor, "a link")
		return err
	},
	"ConfirmEmail": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Emails.ConfirmEmail(ctx, s.actor, "a link")
		return err
	},
	"Identities": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Links.Identities(ctx, s.actor, s.user())
		return err
	},
	"RemoveIdentity": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Links.RemoveIdentity(ctx, s.actor, s.user(), "slack", "T1/U1")
	},

	"Tenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Tenants.Tenant(ctx, s.actor, here)
		return err
	},
	"Tenants": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Tenants.Tenants(ctx, s.actor)
		return err
	},
	"TenantNames": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Tenants.TenantNames(ctx, s.actor)
		return err
	},
	"CreateTenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, _, err := a.Identity.Tenants.CreateTenant(ctx, s.actor, identity.NewTenant{Name: s.fresh("tenant")})
		return err
	},
	"ExportTenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Settings.ExportTenant(ctx, s.actor)
		return err
	},
	"CheckTenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Settings.CheckTenant(ctx, s.actor, groupFile(s.fresh("group")))
		return err
	},
	"ImportTenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Settings.ImportTenant(ctx, s.actor, groupFile(s.fresh("group")))
		return err
	},
	"ChangeTenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		about := "changed"
		_, err := a.Identity.Tenants.ChangeTenant(ctx, s.actor, here, identity.TenantChange{About: &about})
		return err
	},
	"DeleteTenant": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.Tenants.DeleteTenant(ctx, s.actor, there)
	},
	"ActIn": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.Tenants.ActIn(ctx, s.actor, there)
		return err
	},

	"Requests": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.Requests(ctx, s.actor, cluster.RequestFilter{})
		return err
	},
	"Request": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.Request(ctx, s.actor, s.request())
		return err
	},
	"Ask": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Cluster.Creates.Ask(ctx, s.actor, cluster.CreateRequest{Name: s.fresh("made"), Request: layout.Request{Template: "web", Size: 2}})
		return err
	},
	"SubmitRequest": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Cluster.Creates.SubmitRequest(ctx, s.actor, cluster.CreateRequest{Name: s.fresh("made"), Request: layout.Request{Template: "web", Size: 2}})
		return err
	},
	"Confirm": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.Confirm(ctx, s.actor, s.request(), "")
		return err
	},
	"Withdraw": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.Withdraw(ctx, s.actor, s.request(), "")
		return err
	},
	"Review": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.Review(ctx, s.actor, s.request(), appoperation.ReviewRequest{Verdict: cluster.VerdictApprove})
		return err
	},
	"RunNow": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.RunNow(ctx, s.actor, s.request(), "", "the building is on fire")
		return err
	},
	"BreakGlass": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Operation.Requests.BreakGlass(ctx, s.actor, s.request(), "", "the building is on fire")
		return err
	},
	"PolicyList": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Policies.PolicyList(ctx, s.actor)
		return err
	},
	"Policy": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Policies.Policy(ctx, s.actor, s.policy())
		return err
	},
	"PolicyZone": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Policies.PolicyZone(ctx, s.actor)
		return err
	},
	"SavePolicy": func(ctx context.Context, a *appall.Services, s *scene) error {
		name := s.fresh("p")
		_, err := a.Policy.Policies.SavePolicy(ctx, s.actor, aPolicy(name))
		if err == nil {
			err = a.Policy.Policies.DeletePolicy(ctx, s.actor, name)
		}
		return err
	},
	"DeletePolicy": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Policy.Policies.DeletePolicy(ctx, s.actor, s.policy())
	},
	"TryPolicy": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Policies.TryPolicy(ctx, s.actor, policy.TrialRequest{Policy: aPolicy("tried"), Past: 10})
		return err
	},
	"SetPolicyZone": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Policy.Policies.SetPolicyZone(ctx, s.actor, "Europe/Berlin")
	},

	"Secrets": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Secret.Secrets(ctx, s.actor)
		return err
	},
	"SetSecret": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Secret.SetSecret(ctx, s.actor, "A_SECRET", []byte("x"))
	},
	"DeleteSecret": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Secret.DeleteSecret(ctx, s.actor, s.secret())
	},
	"Audit": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, _, err := a.Identity.AuditLog.Audit(ctx, s.actor, app.AuditFilter{})
		return err
	},
	"ExportAudit": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Identity.AuditLog.ExportAudit(ctx, s.actor, app.AuditFilter{}, func(app.AuditEntry) error { return nil })
	},
	"VerifyAudit": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Identity.AuditLog.VerifyAudit(ctx, s.actor, here)
		return err
	},

	"Quotas": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Quotas.Quotas(ctx, s.actor)
		return err
	},
	"QuotaLimits": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Quotas.QuotaLimits(ctx, s.actor)
		return err
	},
	"QuotasTakeTime": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Quotas.QuotasTakeTime(ctx, s.actor)
		return err
	},
	"ManyMachines": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Quotas.ManyMachines(ctx, s.actor)
		return err
	},
	"QuotaLeft": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Policy.Quotas.QuotaLeft(ctx, s.actor)
		return err
	},
	"SetQuota": func(ctx context.Context, a *appall.Services, s *scene) error {
		most := 1e6
		_, err := a.Policy.Quotas.SetQuota(ctx, s.actor, policy.Quota{Scope: policy.QuotaEachUser, Limits: policy.Limits{Nodes: &most}})
		return err
	},
	"DeleteQuota": func(ctx context.Context, a *appall.Services, s *scene) error {
		return a.Policy.Quotas.DeleteQuota(ctx, s.actor, policy.QuotaGroup, s.quota())
	},
	"SetTenantQuota": func(ctx context.Context, a *appall.Services, s *scene) error {
		most := 1e6
		_, err := a.Policy.Quotas.SetTenantQuota(ctx, s.actor, policy.Limits{Nodes: &most})
		return err
	},
	"ExtendLease": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Lease.Leases.ExtendLease(ctx, s.actor, s.cluster(), template.LeaseRequest{By: time.Hour, Reason: "because of a test"})
		return err
	},
	"Usage": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Usage.Usage(ctx, s.actor, usage.Filter{By: usage.ByUser})
		return err
	},
	"UsageLabels": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Usage.UsageLabels(ctx, s.actor)
		return err
	},
	"UsageOfAll": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Usage.UsageOfAll(ctx, s.actor, usage.Filter{By: usage.ByTenant})
		return err
	},
	"UsageAhead": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Usage.UsageAhead(ctx, s.actor)
		return err
	},
	"UsageAheadOfAll": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Usage.UsageAheadOfAll(ctx, s.actor)
		return err
	},
	"LeaseOutlook": func(ctx context.Context, a *appall.Services, s *scene) error {
		_, err := a.Lease.Leases.LeaseOutlook(ctx, s.actor, s.cluster())
		return err
	},
}

// allTries calls every use case.
func allTries() map[string]func(ctx context.Context, a *appall.Services, s *scene) error {
	all := maps.Clone(tries)
	maps.Copy(all, moreTries)
	maps.Copy(all, manageTries)
	maps.Copy(all, homeTries)
	maps.Copy(all, listTries)
	maps.Copy(all, acceptPartialTries)
	maps.Copy(all, healthTries)
	maps.Copy(all, idleTries)
	maps.Copy(all, scalingTries)
	maps.Copy(all, bulkTries)
	maps.Copy(all, runTries)
	maps.Copy(all, outputTries)
	maps.Copy(all, chatTries)
	maps.Copy(all, poolTries)
	maps.Copy(all, volumeTries)
	maps.Copy(all, imageTries)
	maps.Copy(all, terminalTries)
	maps.Copy(all, buildTries)
	maps.Copy(all, resourceTries)
	maps.Copy(all, catalogTries)
	return all
}
