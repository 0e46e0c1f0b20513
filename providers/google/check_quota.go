package google

import (
	"cmp"
	"context"
	"math"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
)

// needs of CPUs are counted under this until the region has returned its metrics: some series of machine types have one of their own.
const (
	cpus     = "CPUS"
	spotCPUs = "PREEMPTIBLE_CPUS"
	allCPUs  = "CPUS_ALL_REGIONS"
	ofSeries = "_" + cpus
)

// taken is what machines of a need take of the quotas of their region, by metric.
type taken struct {
	kind, region string
	of           map[string]float64
}

// count adds what so many machines need of the quotas of their region.
func (s *survey) count(zone string, kind *gcp.MachineType, f template.Flavor, c choices, n float64) {
	t := taken{kind.Name, region(zone), map[string]float64{"INSTANCES": n}}
	metric := strings.ToUpper(series(kind.Name)) + ofSeries
	if c.spot {
		metric = spotCPUs
	}
	t.of[metric] += n * float64(kind.GuestCPUs)
	_, model := gpus(kind)
	if model = cmp.Or(model, f.GPU); f.GPUs > 0 && model != "" {
		metric := strings.ToUpper(strings.ReplaceAll(strings.Replace(model, "-tesla-", "-", 1), "-", "_")) + "_GPUS" // NVIDIA_T4_GPUS for nvidia-tesla-t4
		if c.spot {
			metric = "PREEMPTIBLE_" + metric
		}
		t.of[metric] += n * float64(f.GPUs)
	}
	if c.external {
		t.of["IN_USE_ADDRESSES"] += n
	}
	t.of[diskMetric(diskType(c.rootType, kind.Name))] += n * float64(c.rootGB)
	if c.dataGB > 0 {
		t.of[diskMetric(diskType(c.dataType, kind.Name))] += n * float64(c.dataGB)
	}
	s.taken = append(s.taken, t)
}

// diskMetric is the quota that a type of disk is counted under.
func diskMetric(kind string) string {
	switch {
	case kind == "pd-standard":
		return "DISKS_TOTAL_GB"
	case kind == "hyperdisk-balanced":
		return "HDB_TOTAL_GB"
	case strings.HasPrefix(kind, "hyperdisk-"):
		return strings.ToUpper(strings.ReplaceAll(kind, "-", "_")) + "_TOTAL_GB"
	}
	return "SSD_TOTAL_GB"
}

// quotas looks whether what is needed is left in each region, and of CPUs in all regions together. Where each kind is looked at for itself, it says
// what is left,
// and which kinds it leaves no room for.
func (s *survey) quotas(ctx context.Context, project *gcp.Project, each bool) {
	needed := map[string]map[string]float64{}
	for _, t := range s.taken {
		if needed[t.region] == nil {
			needed[t.region] = map[string]float64{}
		}
		for metric, n := range t.of {
			needed[t.region][metric] += n
		}
	}
	regions := sorted(needed)
	if len(regions) == 0 && s.zones[s.p.zone] != nil {
		regions = []string{region(s.p.zone)}
	}
	everywhere := 0.0
	kinds := make([]account.Kind, len(s.taken))
	for i, t := range s.taken {
		kinds[i] = account.Kind{Name: "type " + t.kind, Takes: map[string]float64{}}
	}
	var limits []account.Quota
	for _, where := range regions {
		r, err := s.p.api.Region(ctx, s.p.project, where)
		if err != nil {
			s.failed(family.AboutQuota, where, err, "Region "+where+" doesn't exist.", "Run gcloud compute regions list to see all regions.")
			continue
		}
		needs := map[string]float64{}
		for metric, n := range needed[where] {
			if isCPUs(metric) {
				everywhere += n
			}
			needs[counted(r.Quotas, metric)] += n
		}
		for i, t := range s.taken {
			for metric, n := range t.of {
				if t.region == where {
					kinds[i].Takes[counted(r.Quotas, metric)+" in "+where] += n
				}
				if isCPUs(metric) {
					kinds[i].Takes[allCPUs+" in all regions"] = n
				}
			}
		}
		limits = append(limits, s.compare(where, r.Quotas, needs, each)...)
	}
	if everywhere > 0 {
		limits = append(limits, s.compare("all regions", project.Quotas, map[string]float64{allCPUs: everywhere}, each)...)
	}
	if each {
		s.found = append(s.found, account.Apart(kinds, limits, quotaHint)...)
	}
}

func isCPUs(metric string) bool { return strings.HasSuffix(metric, ofSeries) || metric == spotCPUs }

// counted returns the metric that a region counts a need under: where a series has no quota of its own, and where spot machines have none, they count
// as others do.
func counted(quotas []*gcp.Quota, metric string) string {
	if isCPUs(metric) && limitOf(quotas, metric) == 0 {
		return cpus
	}
	return metric
}

func limitOf(quotas []*gcp.Quota, metric string) float64 {
	for _, q := range quotas {
		if q.Metric == metric {
			return float64(q.Limit)
		}
	}
	return 0
}

// compare tells of each quota that is needed whether enough is left; with each, only what is left. What the cloud does not list is not limited, or not known.
func (s *survey) compare(where string, quotas []*gcp.Quota, needs map[string]float64, each bool) (limits []account.Quota) {
	enough := true
	for _, metric := range sorted(needs) {
		for _, q := range quotas {
			if q.Metric != metric {
				continue
			}
			limit, used := float64(q.Limit), float64(q.Usage)
			limits = append(limits, account.Quota{Name: metric + " in " + where, Limit: limit, Used: used})
			left := math.Max(limit-used, 0)
			if each {
				s.good(family.AboutQuota, metric, "Quota %s in %s: %s of %s available.", metric, where, number(left), number(limit))
			} else if left < needs[metric] {
				enough = false
				s.bad(family.AboutQuota, metric, app.EQuota, quotaHint, "Quota %s in %s: only %s of %s available, but %s needed.",
					metric, where, number(left), number(limit), number(needs[metric]))
			}
		}
	}
	if enough && !each {
		s.good(family.AboutQuota, where, "The quotas of %s are sufficient.", where)
	}
	return limits
}

func number(f float64) string { return account.Number(f) }
