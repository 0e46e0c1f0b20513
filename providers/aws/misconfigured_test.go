package aws

import (
	"testing"

	appfamily "muster/app/family"
	"muster/providers/providertest"
)

// wrongAccounts are accounts with something wrong in them, by their settings or by what the cloud has.
func wrongAccounts(r *testRegion) (out []providertest.Wrong) {
	add := func(name, about string, settings map[string]any, spoil func(*simulated)) {
		out = append(out, providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (appfamily.Provider, func()) {
			before := simulate()
			r.sim.mu.Lock()
			defer r.sim.mu.Unlock()
			if spoil != nil {
				spoil(r.sim)
			}
			return r.open(t, settings), func() {
				r.sim.mu.Lock()
				defer r.sim.mu.Unlock()
				r.sim.denied, r.sim.refuse, r.sim.subnets, r.sim.kinds, r.sim.images, r.sim.zones = before.denied, before.refuse, before.subnets, before.kinds, before.images, before.zones
			}
		}})
	}
	deny := func(actions ...string) func(*simulated) {
		return func(s *simulated) {
			for _, a := range actions {
				s.denied[a] = true
			}
		}
	}
	add("an unknown key", appfamily.AboutCredentials, map[string]any{"access_key_id": "AKIDNONE"}, nil)
	add("a wrong secret", appfamily.AboutCredentials, map[string]any{"secret_access_key": "wrong"}, nil)
	add("a wrong session token", appfamily.AboutCredentials, map[string]any{"access_key_id": "AKIDTEMP", "secret_access_key": "temp/secret", "session_token": "old"}, nil)
	add("a role that may not be assumed", appfamily.AboutCredentials, map[string]any{"role_arn": "arn:aws:iam::222222222222:role/muster", "external_id": "wrong"}, nil)
	add("a blocked account", appfamily.AboutCredentials, nil, func(s *simulated) {
		s.refuse["DescribeAvailabilityZones"] = &refusal{"Blocked", "This account is currently blocked and not recognized as a valid account."}
	})
	add("a region that is not there", appfamily.AboutRegion, map[string]any{"region": "eu-test-9"}, nil)
	add("a region that is not enabled", appfamily.AboutRegion, nil, func(s *simulated) {
		s.refuse["DescribeAvailabilityZones"] = &refusal{"OptInRequired", "You are not subscribed to this service."}
	})
	add("a zone that is not there", appfamily.AboutRegion, map[string]any{"zone": "eu-test-1z"}, nil)
	add("machines that may not be made", appfamily.AboutPermissions, nil, deny("RunInstances"))
	add("images that may not be looked at", appfamily.AboutPermissions, nil, deny("DescribeImages"))
	add("subnets that may not be looked at", appfamily.AboutPermissions, nil, deny("DescribeSubnets"))
	add("nothing allowed", appfamily.AboutPermissions, nil, deny("DescribeAvailabilityZones", "DescribeSubnets", "DescribeImages", "DescribeInstanceTypes", "RunInstances", "CreateSecurityGroup"))
	add("an instance profile that is not there", appfamily.AboutPermissions, map[string]any{"instance_profile": "none"}, nil)
	add("a subnet that is not there", appfamily.AboutNetwork, map[string]any{"subnet_id": "subnet-9999999a"}, nil)
	add("no subnet in the zone", appfamily.AboutNetwork, map[string]any{"subnet_id": "subnet-0000000a"}, nil)
	add("no default VPC", appfamily.AboutNetwork, nil, func(s *simulated) { s.subnets = s.subnets[3:] })
	add("a VPC that is not there", appfamily.AboutNetwork, map[string]any{"vpc_id": "vpc-99999999"}, nil)
	add("a security group that is not there", appfamily.AboutNetwork, map[string]any{"security_group_ids": "sg-0000000e, sg-99999999"}, nil)
	add("a security group of another VPC", appfamily.AboutNetwork, map[string]any{"security_group_ids": "sg-1111111d"}, nil)
	named := func(name string) map[string]any { return map[string]any{"security_group_ids": name} }
	add("a name of no security group", appfamily.AboutNetwork, named("office, nowhere"), nil)
	add("a name of a security group of another VPC", appfamily.AboutNetwork, named("elsewhere"), func(s *simulated) {
		s.groups = append(s.groups, &simGroup{id: "sg-1111111e", name: "elsewhere", vpc: "vpc-1111111d", own: true})
	})
	add("a placement group that is not there", appfamily.AboutNetwork, map[string]any{"placement_group": "far"}, nil)
	add("a full subnet", appfamily.AboutQuota, nil, func(s *simulated) { s.subnets[1].free = 1 })
	add("a reached limit", appfamily.AboutQuota, nil, func(s *simulated) {
		s.refuse["RunInstances"] = &refusal{"VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 0 allows."}
	})
	add("a type that the zone does not have", appfamily.AboutFlavor, nil, func(s *simulated) { s.kinds[0].zones = []string{"eu-test-1a"} })
	add("a type that is not had as spot", appfamily.AboutFlavor, map[string]any{"spot": "true"}, func(s *simulated) { s.kinds[0].noSpot = true })
	add("an image of another architecture", appfamily.AboutImage, nil, func(s *simulated) { s.images[0].arch = "arm64" })
	add("an image that is gone", appfamily.AboutImage, nil, func(s *simulated) { s.images = s.images[1:] })
	add("an image larger than the disk", appfamily.AboutImage, map[string]any{"root_disk_gb": "7"}, nil)
	zone := func(name string) map[string]any { return map[string]any{"dns_zone": name} }
	add("a DNS zone that is not there", appfamily.AboutNetwork, zone("none.test"), nil)
	add("a DNS zone that exists twice", appfamily.AboutNetwork, zone("twice.test"), nil)
	add("a DNS zone's ID that is not there", appfamily.AboutNetwork, map[string]any{"dns_zone": "suite.test", "dns_zone_id": "Z99999999"}, nil)
	add("a DNS zone's ID of another zone", appfamily.AboutNetwork, map[string]any{"dns_zone": "suite.test", "dns_zone_id": "Z00000002"}, nil)
	add("DNS zones that may not be listed", appfamily.AboutPermissions, zone("suite.test"), deny("ListHostedZonesByName"))
	add("a DNS zone that may not be looked at", appfamily.AboutPermissions, map[string]any{"dns_zone": "suite.test", "dns_zone_id": "Z00000001"}, deny("GetHostedZone"))
	add("a DNS zone that may not be read", appfamily.AboutPermissions, zone("suite.test"), deny("ListResourceRecordSets"))
	add("a DNS zone that may not be changed", appfamily.AboutPermissions, zone("suite.test"), deny("ChangeResourceRecordSets"))
	add("a DNS zone of another partition", appfamily.AboutCredentials, zone("suite.test"), func(s *simulated) {
		s.refuse["ListHostedZonesByName"] = &refusal{"InvalidClientTokenId", "The security token included in the request is invalid."}
	})
	return out
}
