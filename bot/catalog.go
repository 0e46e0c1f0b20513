package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
)

// catalogs lists what clusters can be created from.
type catalogs struct{ catalogs Catalogs }

func (ct catalogs) list(ctx context.Context, r request) (Answer, error) {
	c, err := ct.catalogs.Catalog(ctx, r.actor)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Templates", Links: []Link{{"New cluster", r.Page(app.Subject{Kind: app.SubjectNewCluster})}}}
	names := slices.Sorted(maps.Keys(c.Templates))
	for i, name := range names {
		if i == maxListed {
			a.Lines = append(a.Lines, fmt.Sprintf("%d more in the portal.", len(names)-i))
			break
		}
		t := c.Templates[name]
		a.Lines = append(a.Lines, strings.TrimSuffix(name+" – "+t.Description, " – "))
	}
	if len(names) == 0 {
		a.Lines = []string{"No templates are published yet."}
	}
	return a, nil
}
