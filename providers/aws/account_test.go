package aws

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
)

func TestCheckSettings(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     map[string]any
		field string
	}{
		{"a region alone", map[string]any{"region": "eu-central-1"}, ""},
		{"all", map[string]any{"region": "eu-central-1", "access_key_id": "A", "secret_access_key": "hunter2", "session_token": "hunter2", "role_arn": "arn:aws:iam::123456789012:role/a/b", "external_id": "x", "zone": "eu-central-1a",
			"subnet_id": "subnet-01234567 subnet-0123456789abcdef0", "vpc_id": "vpc-01234567", "security_group_ids": "sg-01234567", "root_disk_gb": 10, "spot": "fallback", "ssh_from": "10.0.0.0/8,::/0",
			"api_url": "https://ec2.example.org", "route53_url": "https://r53.example.org", "dns_zone": "Clusters.Example.org.", "dns_zone_id": "Z0123456789ABC", "public_address": false}, ""},
		{"no region", nil, "region"},
		{"an odd region", map[string]any{"region": "x/../y"}, "region"},
		{"an ID without a secret", map[string]any{"access_key_id": "A"}, "secret_access_key"},
		{"a secret without an ID", map[string]any{"secret_access_key": "hunter2"}, "secret_access_key"},
		{"a token without a key", map[string]any{"session_token": "hunter2"}, "session_token"},
		{"an odd role", map[string]any{"role_arn": "muster"}, "role_arn"},
		{"an external ID without a role", map[string]any{"external_id": "x"}, "external_id"},
		{"an odd subnet", map[string]any{"subnet_id": "subnet-01234567,vpc-01234567"}, "subnet_id"},
		{"an odd VPC", map[string]any{"vpc_id": "default"}, "vpc_id"},
		{"an odd group", map[string]any{"security_group_ids": "sg-office"}, "security_group_ids"},
		{"a group with an asterisk", map[string]any{"security_group_ids": "off*"}, "security_group_ids"},
		{"too many groups", map[string]any{"security_group_ids": strings.Repeat("a ", 17)}, "security_group_ids"},
		{"a group's name", map[string]any{"security_group_ids": "default, Web_1.a"}, ""},
		{"an odd size", map[string]any{"root_disk_gb": "-1"}, "root_disk_gb"},
		{"an odd type", map[string]any{"root_disk_type": "io2"}, "root_disk_type"},
		{"a small st1 disk", map[string]any{"data_disk_type": "st1", "data_disk_gb": 10}, "data_disk_gb"},
		{"a KMS key for nothing", map[string]any{"kms_key_id": "x"}, "kms_key_id"},
		{"an odd market", map[string]any{"spot": "maybe"}, "spot"},
		{"an odd tenancy", map[string]any{"tenancy": "host"}, "tenancy"},
		{"an odd answer", map[string]any{"public_address": "sometimes"}, "public_address"},
		{"an odd prefix", map[string]any{"ssh_from": "10.0.0.1"}, "ssh_from"},
		{"an odd DNS zone", map[string]any{"dns_zone": "Z0123456789ABC"}, "dns_zone"},
		{"an odd ID of a DNS zone", map[string]any{"dns_zone": "a.example", "dns_zone_id": "a.example"}, "dns_zone_id"},
		{"the ID of a DNS zone alone", map[string]any{"dns_zone_id": "Z0123456789ABC"}, "dns_zone"},
		{"an odd endpoint of Route 53", map[string]any{"route53_url": "route53.example.org"}, "route53_url"},
		{"an odd endpoint", map[string]any{"api_url": "ec2.example.org"}, "api_url"},
		{"an endpoint with a secret", map[string]any{"sts_url": "https://u:hunter2@example.org"}, "sts_url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := map[string]any{}
			if c.field != "region" {
				s["region"] = "eu-central-1"
			}
			for k, v := range c.s {
				s[k] = v
			}
			err := Check(s)
			if c.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "settings."+c.field || strings.Contains(e.Error(), "hunter2") {
				t.Errorf("%v (field %q)", err, e.Field)
			}
			if _, err := Open(t.Context(), s, account.Network{}); app.CodeOf(err) != app.EInvalid {
				t.Errorf("it opens: %v", err)
			}
		})
	}
}

// alone takes the host's own AWS configuration out of the way.
func alone(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, k := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(k, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("HOME", t.TempDir())
}

func TestCredentials(t *testing.T) {
	alone(t)
	r := newRegion(t)
	asks := func(settings map[string]any) error {
		_, err := r.open(t, settings).List(t.Context(), nil)
		return err
	}
	chain := map[string]any{"access_key_id": "", "secret_access_key": ""}
	for name, s := range map[string]map[string]any{
		"a key":            nil,
		"a temporary key":  {"access_key_id": "AKIDTEMP", "secret_access_key": "temp/secret", "session_token": "session+token="},
		"a role to assume": {"role_arn": "arn:aws:iam::222222222222:role/muster", "external_id": "tell-me"},
	} {
		if err := asks(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e := app.AsError(asks(chain)); e.Code != app.ECredentials || e.Hint == "" {
		t.Errorf("none at all: %v", e)
	}
	for name, s := range map[string]map[string]any{
		"an unknown key":   {"access_key_id": "AKIDNONE", "secret_access_key": "hunter2"},
		"a wrong secret":   {"secret_access_key": "hunter2"},
		"a role not given": {"role_arn": "arn:aws:iam::222222222222:role/other", "external_id": "hunter2"},
	} {
		if e := app.AsError(asks(s)); e.Code != app.ECredentials || e.Hint == "" || strings.Contains(e.Error(), "hunter2") {
			t.Errorf("%s: %v", name, e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.open(t, chain).List(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("no waiting: %v", err)
	}
	if err := asks(map[string]any{"role_arn": "arn:aws:iam::222222222222:role/muster", "sts_url": "http://127.0.0.1:1"}); app.CodeOf(err) == app.ECredentials || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("no STS: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDGOOD")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "good/secret+1")
	if err := asks(chain); err != nil {
		t.Errorf("from the environment: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDNONE")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	if err := asks(nil); err != nil {
		t.Errorf("with a key in the settings the environment counts: %v", err)
	}
}

func TestOffers(t *testing.T) {
	r := newRegion(t)
	o, err := r.open(t, nil).Offers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Zones, []string{"eu-test-1a", "eu-test-1b", "eu-test-1c"}) || o.Currency != "" || len(o.Flavors) != len(r.sim.kinds) {
		t.Errorf("zones %v, currency %q, %d flavors", o.Zones, o.Currency, len(o.Flavors))
	}
	var images []string
	for _, i := range o.Images {
		images = append(images, i.Image.Image)
		if i.CreatedAt.IsZero() || i.Description == "" {
			t.Errorf("%+v", i)
		}
	}
	// The account's own that are ready, and the newest Debian; none of a stranger's.
	if want := []string{"ami-0000000a", "ami-0000000b", "ami-0000000c", "ami-1000000b"}; !slices.Equal(images, want) {
		t.Errorf("images %v", images)
	}
	at := func(name string) appfamily.FlavorOffer {
		return o.Flavors[slices.IndexFunc(o.Flavors, func(f appfamily.FlavorOffer) bool { return f.Flavor.Flavor == name })]
	}
	if f := at("t9.small"); f.CPU != 2 || f.MemoryGB != 2 || len(f.Zones) != 0 || f.Description != "x86_64" {
		t.Errorf("%+v", f)
	}
	if f := at("g9.large"); f.GPUs != 2 || f.GPU != "nvidia-l4" {
		t.Errorf("%+v", f)
	}
	if f := at("n9.large"); f.GPUs != 0 || !slices.Equal(f.Zones, []string{"eu-test-1b", "eu-test-1c"}) {
		t.Errorf("%+v", f)
	}
	if r.sim.asked["DescribeInstanceTypes"] < 3 {
		t.Error("instance types come on one page")
	}
}

func TestCheckWithoutNeeds(t *testing.T) {
	r := newRegion(t)
	found, err := r.open(t, map[string]any{"zone": "eu-test-1a"}).CheckAccount(t.Context(), appfamily.AccountNeeds{})
	if err != nil {
		t.Fatal(err)
	}
	for _, about := range []string{appfamily.AboutCredentials, appfamily.AboutRegion, appfamily.AboutNetwork, appfamily.AboutPermissions} {
		if !slices.ContainsFunc(found, func(f appfamily.Finding) bool { return f.About == about }) {
			t.Errorf("nothing about %s in %+v", about, found)
		}
	}
	if n := r.sim.asked["RunInstances"]; n != 0 || len(r.left()) != 0 {
		t.Errorf("%d machines were asked for, %v is left", n, r.left())
	}
	dead := httptest.NewServer(nil)
	dead.Close()
	found, err = r.open(t, map[string]any{"api_url": dead.URL}).CheckAccount(t.Context(), appfamily.AccountNeeds{})
	if err != nil || len(found) != 1 || found[0].OK || found[0].About != appfamily.AboutRegion || found[0].Hint == "" {
		t.Errorf("no endpoint: %+v, %v", found, err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		word, message string
		status        int
		code          app.Code
	}{
		{"InsufficientInstanceCapacity", "", 500, app.ECapacity},
		{"Unsupported", "Your requested instance type (x) is not supported in your requested Availability Zone (y).", 400, app.ECapacity},
		{"Unsupported", "The requested configuration is currently not supported.", 400, app.EInvalid},
		{"SpotMaxPriceTooLow", "", 400, app.ECapacity},
		{"MaxSpotInstanceCountExceeded", "", 400, app.EQuota},
		{"SecurityGroupLimitExceeded", "", 400, app.EQuota},
		{"RequestLimitExceeded", "", 503, app.ERateLimit},
		{"Throttling", "", 400, app.ERateLimit},
		{"AuthFailure", "AWS was not able to validate the provided access credentials", 401, app.ECredentials},
		{"AuthFailure", "Not authorized for images: [ami-1]", 400, app.EInvalid},
		{"RequestExpired", "", 400, app.ECredentials},
		{"InvalidInstanceID.NotFound", "", 400, app.ENotFound},
		{"InvalidSubnetID.NotFound", "", 400, app.EInvalid},
		{"NoSuchHostedZone", "", 404, app.EInvalid},
		{"PriorRequestNotComplete", "", 400, app.ETransient},
		{"IdempotentParameterMismatch", "", 400, app.EConflict},
		{"OperationNotPermitted", "", 400, app.EConflict},
		{"DependencyViolation", "", 400, app.ETransient},
		{"Unavailable", "", 503, app.ETransient},
		{"ServiceUnavailable", "", 503, app.ETransient},
		{"InternalError", "An internal error has occurred", 500, app.ETransient},
		{"InternalFailure", "", 500, app.ETransient},
		{"SomethingNew", "", 502, app.ETransient},
		{"SomethingNew", "", 400, app.EInvalid},
	} {
		if got := codeFor(c.word, c.message, c.status); got != c.code {
			t.Errorf("%s (%s, %d) is %s, want %s", c.word, c.message, c.status, got, c.code)
		}
		e := app.AsError(codeOf(serviceEC2, &smithy.GenericAPIError{Code: c.word, Message: c.message}))
		want := c.word
		if slices.Contains(broken, c.word) {
			want = app.ReasonCloudBroken
		}
		if e.Message == "" || !strings.Contains(e.Message, c.word) || e.Reason != want || strings.Contains(e.Message, app.CloudBroken) != (want == app.ReasonCloudBroken) {
			t.Errorf("%s: %+v", c.word, e)
		}
	}
	plain := errors.New("reset by peer")
	if codeOf(serviceEC2, plain) != plain {
		t.Error("an error of the network has changed")
	}
	long := sentence(serviceEC2, "UnauthorizedOperation", "You may not. Encoded authorization failure message: "+strings.Repeat("x", 100))
	if long != "EC2 answers: You may not. (UnauthorizedOperation)" {
		t.Error(long)
	}
}

// What is in front of EC2, such as a proxy, answers in words of its own.
func TestInvalidEC2Responses(t *testing.T) {
	for status, want := range map[int]app.Code{http.StatusBadGateway: app.ETransient, http.StatusForbidden: app.ECredentials, http.StatusTooManyRequests: app.ERateLimit, http.StatusFound: app.EInternal} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.Header().Set("Retry-After", "3")
			http.Error(w, "<html><body>no</body>", status)
		}))
		c, err := open(t.Context(), map[string]any{"region": "eu-test-1", "access_key_id": "A", "secret_access_key": "b", "api_url": s.URL}, quick, account.Network{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.List(t.Context(), nil); app.CodeOf(err) != want {
			t.Errorf("%d: %v", status, err)
		}
		_ = c.Close()
		s.Close()
	}
}

func TestDefaultsMatchTheDescriptor(t *testing.T) {
	s := account.Settings{}
	for _, f := range Descriptor.Fields {
		if f.Default != "" {
			s[f.Name] = f.Default
		}
	}
	said, err := optionsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	none, err := optionsOf(account.Settings{})
	if err != nil || !slices.Equal(said.sshFrom, none.sshFrom) || said.rootType != none.rootType || said.dataType != none.dataType || said.public != none.public || said.spot != none.spot ||
		said.tenancy != none.tenancy || said.encrypt != none.encrypt || said.rootGB != none.rootGB || said.dataGB != none.dataGB {
		t.Errorf("%+v is not %+v (%v)", none, said, err)
	}
}
