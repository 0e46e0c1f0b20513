package aws

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/records"
)

// dnsZone looks whether the account's hosted zone is there, may be read, and may be changed.
func (s *survey) dnsZone(ctx context.Context) {
	name := s.NameZone()
	if name == "" {
		return
	}
	if err := s.inZone(ctx, func(ctx context.Context, z *hosted) error { s.zoneOpen(ctx, name, z); return nil }); err != nil {
		s.wrongZone(appfamily.AboutNetwork, name, err)
	}
}

// zoneOpen looks whether a hosted zone that is there may be read and changed.
func (s *survey) zoneOpen(ctx context.Context, name string, z *hosted) {
	found := ""
	if z.private {
		found = ", resolved in its associated VPCs"
	}
	s.right(appfamily.AboutNetwork, name, "Machine names go to the %s hosted zone %s (%s)%s.", z.kind(), name, z.id, found)
	if _, err := s.records.listResourceRecordSets(ctx, &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id, MaxItems: ref[int32](1)}); err != nil {
		s.wrongZone(appfamily.AboutNetwork, name, err)
		return
	}
	// There is no dry run. Records that are not there cannot be deleted: how that is refused reports whether any may be changed.
	random := strings.ToLower(rand.Text())
	var batch []types.Change
	for _, of := range []records.Set{{Type: "A", Values: []string{"192.0.2.1"}}, {Type: "AAAA", Values: []string{"2001:db8::1"}}, {Type: "TXT", Values: []string{random}}} {
		of.Name = "muster-check-" + random + "." + name
		batch = append(batch, types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: setOf(of)})
	}
	switch err := z.submit(ctx, batch); {
	case because(err, reasonMoved):
		s.right(appfamily.AboutPermissions, "route53:ChangeResourceRecordSets", "Muster can change records in hosted zone %s.", name)
	case err == nil:
		s.doubt(appfamily.AboutPermissions, "route53:ChangeResourceRecordSets", "Route 53 didn't respond whether Muster can change records.", "Check the endpoint in route53_url.")
	default:
		s.wrongZone(appfamily.AboutPermissions, "route53:ChangeResourceRecordSets", err)
	}
}

// wrongZone tells what is wrong with the hosted zone.
func (s *survey) wrongZone(about, subject string, err error) {
	var e *app.Error
	if !errors.As(err, &e) {
		err = hinted(app.Errorf(app.ETransient, "Can't connect to the Route 53 API: %w", err), "Check route53_url and the network connection.")
	}
	if app.CodeOf(err) == app.ECredentials {
		about = appfamily.AboutCredentials // and what is not allowed is reported as such
	}
	s.wrong(about, subject, err)
}
