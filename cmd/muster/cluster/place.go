package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/cmd/muster/cli"

	"github.com/spf13/pflag"
)

// placeFlags are the flags that name several places.
type placeFlags struct {
	zone    string
	places  []string
	order   string
	pricing []string
}

func (f *placeFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.zone, "zone", "", "`zone` of all nodes (default: the provider's choice)")
	flags.StringSliceVar(&f.places, "place", nil, "`place` to try, as PROVIDER[/ZONE[/HARDWARE]]; may be repeated")
	flags.StringVar(&f.order, "order", "", "which place to try first: `cheapest`, fastest or listed (default: the template's, else cheapest)")
	flags.StringSliceVar(&f.pricing, "pricing", nil, "kinds of `price` to accept: spot, on_demand (default: any)")
}

// apply adds the places to a request. Lists of providers, zones and hardware types mean every combination.
func (f placeFlags) apply(r *cluster.CreateRequest) error {
	if f.order != "" {
		r.Order = layout.PlaceOrder(f.order)
	}
	if f.zone != "" {
		r.Zone = f.zone
	}
	if len(f.pricing) > 0 {
		r.Pricing = nil
	}
	for _, p := range f.pricing {
		r.Pricing = append(r.Pricing, layout.Pricing(strings.ReplaceAll(p, "-", "_")))
	}
	if len(f.places) > 0 { // instead of those of a spec
		r.Places = nil
	}
	for _, text := range f.places {
		parts := strings.Split(text, "/")
		if len(parts) > 3 || text == "" {
			return cli.Usagef("--place %q isn't a place", text).Hint("Examples: aws, aws/eu-1a, aws/eu-1a/medium, aws//medium.")
		}
		parts = append(parts, "", "")
		r.Places = append(r.Places, layout.Place{Provider: parts[0], Zone: parts[1], Hardware: parts[2]})
	}
	providers, zones, hardware := split(r.Provider), split(r.Zone), split(r.Hardware)
	if len(providers)*len(zones)*len(hardware) == 1 {
		return r.PlaceOptions.Check()
	}
	if len(f.places) > 0 {
		return cli.Usagef("--place can't be combined with lists of providers, zones or hardware types").Hint("Name every place with --place, or use lists only.")
	}
	r.Provider, r.Zone, r.Hardware, r.Places = "", "", "", nil
	for _, p := range providers {
		for _, z := range zones {
			for _, h := range hardware {
				r.Places = append(r.Places, layout.Place{Provider: p, Zone: z, Hardware: h})
			}
		}
	}
	return r.PlaceOptions.Check()
}

func split(text string) (out []string) {
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one != "" && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// printCandidates lists the places of a preview.
func printCandidates(c *cli.Context, list []layout.Candidate) {
	if len(list) == 0 {
		return
	}
	fmt.Fprint(c.Stdout, "\nPlaces, in the order in which they're tried:\n")
	t, now := cli.NewTable("", "PLACE", "PRICE", "PER HOUR", "TIME", "ACCOUNT", "RECENTLY SEEN"), time.Now()
	var impossible []layout.Candidate
	for i, k := range list {
		if k.State == layout.CandidateImpossible {
			impossible = append(impossible, k)
			continue
		}
		t.Add(strconv.Itoa(i+1), k.Text(), k.Pricing.Text(), k.Price(), humanize.Rough(k.Duration), k.Account, k.Stock.Seen(now))
	}
	_ = t.Show(c)
	for _, k := range impossible {
		cli.Line(c.Stdout, "  Not possible: %s. %s", k.Text(), k.Reason)
	}
}

// printTried says in which places a cluster was tried.
func printTried(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View) {
	p, err := cl.Clusters.Places(ctx, v.ID)
	if err != nil || len(p.Candidates) == 0 {
		return // an older server, or a cluster in one place
	}
	if p.Current != v.ID {
		cli.Line(c.Stdout, "Continued in the next place as cluster %s.", p.Current)
	}
	fmt.Fprint(c.Stdout, "\nPlaces:\n")
	for _, k := range p.Candidates {
		line := k.Tried()
		switch {
		case k.State == layout.CandidateImpossible:
			line = k.Text() + ": not possible"
		case line == "":
			line = k.Text() + ": not tried"
		}
		if k.Cluster != "" && k.Cluster != v.ID {
			line += " (cluster " + k.Cluster + ")"
		}
		if k.Reason != "" {
			line += ". " + strings.TrimRight(k.Reason, ". ") + "."
		}
		cli.Line(c.Stdout, "  %s", line)
	}
	if p.Message != "" {
		cli.Line(c.Stdout, "  %s", p.Message)
	}
}

// followed waits for a cluster as waitAfter does. Where it is continued in another place, it waits for that cluster.
func followed(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, w waitFlags, after int64) (cluster.View, error) {
	for {
		now, failed := waitAfter(ctx, c, cl, v, w.timeout, after)
		if !operationFailed(failed) {
			return now, failed // also a server that doesn't respond: it's not worth another wait
		}
		next, said, err := nextPlace(ctx, c, cl, v.ID)
		if err != nil || next == "" {
			return now, failed
		}
		fmt.Fprintln(progressStream(c), said)
		if v, err = cl.Clusters.Get(ctx, next); err != nil {
			return now, err
		}
		after = 0
	}
}

// nextPlace waits until it is known where a cluster that failed is continued; "" for nowhere.
func nextPlace(ctx context.Context, c *cli.Context, cl *cli.Client, id string) (next, said string, err error) {
	r, pause := asking(c, cl, redrawPace)
	for {
		var p layout.Places
		if err := r.Try(ctx, func(ctx context.Context) (err error) {
			p, err = cl.Clusters.Places(ctx, id)
			return err
		}); err != nil {
			return "", "", err
		}
		i := slices.IndexFunc(p.Candidates, func(k layout.Candidate) bool { return k.Cluster == id })
		switch {
		case i < 0:
			return "", "", nil
		case p.Current != id:
			at := slices.IndexFunc(p.Candidates, func(k layout.Candidate) bool { return k.Cluster == p.Current })
			return p.Current, fmt.Sprintf("Tried %s. Continuing in %s as %s.", p.Candidates[i].Tried(), p.Candidates[max(at, 0)].Text(), p.Current), nil
		case p.State != layout.PlacesTrying && p.State != layout.PlacesLeaving:
			return "", "", nil
		}
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(pause):
		}
	}
}
