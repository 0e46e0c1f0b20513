package jobs_test

import (
	"context"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/template"
)

// narrow is an account with a limit of machines.
type narrow struct {
	cluster.Accounts
	asked chan int
}

func (n narrow) CheckAccount(_ context.Context, _ template.ProviderSpec, needs family.AccountNeeds) ([]family.Finding, error) {
	count := 0
	for _, m := range needs.Machines {
		count += m.Count
	}
	n.asked <- count
	return []family.Finding{{About: family.AboutQuota, Code: app.EQuota, Message: "The account takes no more machines."}}, nil
}

// TestScaleUpPreviewChecksAddedNodes: the account is asked about the new machines alone, and about nothing where there are none.
func TestScaleUpPreviewChecksAddedNodes(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	account := narrow{asked: make(chan int, 10)}
	e.app.Cluster.Preflight.Accounts = account
	p, err := e.app.Operation.Updates.PreviewUpdate(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	if err != nil {
		t.Fatal(err)
	}
	if p.Account == nil || p.Account.State != cluster.AccountChecked || len(p.Problems) != 1 || p.ProblemLines()[0] != "Problem: The account takes no more machines." {
		t.Errorf("%+v, %+v", p.Account, p.Problems)
	}
	if n := <-account.asked; n != 2 {
		t.Errorf("asked about %d machines, want the 2 new ones", n)
	}
	p, err = e.app.Operation.Updates.PreviewUpdate(e.ctx, e.admin, v.ID, cluster.Update{Kind: app.OperationRestart})
	if err != nil || p.Account != nil || len(account.asked) != 0 {
		t.Errorf("a restart asks the account: %v, %+v", err, p.Account)
	}
}
