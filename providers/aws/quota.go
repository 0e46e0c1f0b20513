package aws

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/smithy-go"

	"muster/app"
)

// quotaCall asks Service Quotas for one quota of EC2; nil where the account's EC2 is not AWS's own.
type quotaCall func(ctx context.Context, code string) (float64, error)

// quotaCallOf returns it for the account's region. With api_url alone, the account's keys are not for AWS to see.
func (c *cloud) quotaCallOf(conf sdk.Config) quotaCall {
	url := c.settings.Text("quotas_url")
	if url == "" && c.settings.Text("api_url") != "" {
		return nil
	}
	quotas := servicequotas.NewFromConfig(conf, func(o *servicequotas.Options) {
		if url != "" {
			o.BaseEndpoint = &url
		}
	})
	return func(ctx context.Context, code string) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		out, err := quotas.GetServiceQuota(ctx, &servicequotas.GetServiceQuotaInput{ServiceCode: ref("ec2"), QuotaCode: &code})
		switch {
		case err != nil:
			return 0, err
		case out.Quota == nil || out.Quota.Value == nil:
			return 0, app.Errorf(app.ETransient, "Service Quotas has no value for %s.", code)
		}
		return *out.Quota.Value, nil
	}
}

// refusedQuota reports whether Service Quotas may not be asked.
func refusedQuota(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && (strings.HasPrefix(api.ErrorCode(), "AccessDenied") || api.ErrorCode() == "NotAuthorized")
}

// silentQuota says why Service Quotas returned nothing.
func silentQuota(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return "can't connect"
}

// family are instance types that share a quota of vCPUs; there is one for on-demand and one for spot. "" where AWS has none, or more than one.
type family struct {
	name           string // as in the names of the quotas
	onDemand, spot string // their codes
}

// standard are the families of one letter that most instance types are of.
var standard = family{"Standard (A, C, D, H, I, M, R, T, Z)", "L-1216C47A", "L-34B43A08"}

// families are by the part before the generation in an instance type's name. Spot has two quotas for P: see AWS's list under "Spot Instance quotas".
var families = map[string]family{
	"a": standard, "c": standard, "d": standard, "h": standard, "i": standard, "im": standard, "is": standard, "m": standard, "r": standard, "t": standard, "z": standard,
	"dl":  {"DL", "L-6E869C2A", "L-85EED4F7"},
	"f":   {"F", "L-74FC7D96", "L-88CF9481"},
	"g":   {"G and VT", "L-DB2E81BA", "L-3819A6DF"},
	"gr":  {"G and VT", "L-DB2E81BA", "L-3819A6DF"},
	"vt":  {"G and VT", "L-DB2E81BA", "L-3819A6DF"},
	"hpc": {"HPC", "L-F7808C92", ""},
	"inf": {"Inf", "L-1945791B", "L-B5D1601B"},
	"p":   {"P", "L-417A185B", ""},
	"trn": {"Trn", "L-2C3B7624", "L-6B0D517C"},
	"u":   {"High Memory", "L-43DA4232", ""},
	"x":   {"X", "L-7295265B", "L-E3A00192"},
}

// familyOf returns an instance type's; the zero value where it is not known.
func familyOf(kind string) family {
	kind = strings.ToLower(kind)
	if i := strings.IndexFunc(kind, func(r rune) bool { return r < 'a' || r > 'z' }); i >= 0 {
		kind = kind[:i]
	}
	return families[kind]
}

// quota returns the code and the name of a family's quota; "" where there is none.
func (f family) quota(spot bool) (code, name string) {
	if spot {
		return f.spot, "All " + f.name + " Spot Instance Requests"
	}
	return f.onDemand, "Running On-Demand " + f.name + " instances"
}
