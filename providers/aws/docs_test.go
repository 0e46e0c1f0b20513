package aws

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const page = "../../docs/providers/aws.md"

// The policies that people paste allow what is asked, and nothing else.
func TestIAMPolicyMatchesTheCalls(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var allowed, asked []string
	for rest, policies := string(b), 0; ; policies++ {
		_, after, found := strings.Cut(rest, "```json\n")
		if !found && policies < 2 {
			t.Fatalf("the page has %d policies", policies)
		}
		if !found {
			break
		}
		text, after, _ := strings.Cut(after, "```")
		rest = after
		var policy struct {
			Statement []struct {
				Effect string
				Action any
			}
		}
		if err := json.Unmarshal([]byte(text), &policy); err != nil {
			t.Fatal(err)
		}
		for _, s := range policy.Statement {
			switch a := s.Action.(type) {
			case string:
				allowed = append(allowed, a)
			case []any:
				for _, one := range a {
					allowed = append(allowed, one.(string))
				}
			}
		}
	}
	for i := range reflect.TypeFor[recordCalls]().NumField() {
		name := reflect.TypeFor[recordCalls]().Field(i).Name
		asked = append(asked, "route53:"+strings.ToUpper(name[:1])+name[1:])
	}
	for i := range reflect.TypeFor[calls]().NumField() {
		name := reflect.TypeFor[calls]().Field(i).Name
		name = strings.ToUpper(name[:1]) + strings.Replace(name[1:], "Ingress", "SecurityGroupIngress", 1)
		asked = append(asked, "ec2:"+name)
	}
	asked = append(asked, "servicequotas:GetServiceQuota") // see quotaCallOf
	slices.Sort(allowed)
	slices.Sort(asked)
	if allowed = slices.Compact(allowed); !slices.Equal(allowed, asked) {
		t.Errorf("allowed %v\nasked %v", allowed, asked)
	}
}
