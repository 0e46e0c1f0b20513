package operation

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/policy"
	"muster/app/quarantine"
	"muster/app/store/storetest/kit"
)

// keptN2 has the cluster web-1 of two nodes replace n2, whose machine is kept as web-n2-kept-7. First is done before that.
func (t *storeTest) keptN2(first ...func()) {
	t.Helper()
	t.Create("web", 2)
	t.CarryOut("")
	for _, f := range first {
		f()
	}
	k := t.keptOf("n2", 7)
	k.Frees, k.Reservation = false, policy.ReservationOf(k.Cluster, k.Nodes, nil, []string{"g"})
	k.Reservation.Pool = true // a machine more, and no cluster more
	_, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: kit.Steps(app.OperationRepair, "n2.create", "n2.confirm"),
		Keep: []cluster.KeptMachine{k}, Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationRepair, Requester: "ada",
			CreatedAt: t.Clock.Now()}})
	t.Must(err)
	t.CarryOut("")
	t.Status("web-n2-kept-7", app.ClusterActive, app.OperationSucceeded)
}

// use asks for the kept machine to become n3 of web-1.
func (t *storeTest) use(kept string) (app.Operation, error) {
	t.Helper()
	c := t.Change("web-1")
	t.Clock.Move(time.Second)
	c.Size, c.New = 3, []app.NewNode{kit.NewNode("web-1", "n3", "i3-"+t.Clock.Now().Format("150405.000"))}
	c.Kept, c.KeptAs = kept, "n3"
	return t.TryUpdate("web-1", kit.Steps(app.OperationResize, "n3.create", "n3.confirm"), c, t.Latest("web-1").ID)
}

// keptUsedAgain: a kept machine becomes a node's, with its intent, keys and line of the receipt, from one moment on.
func (t *storeTest) keptUsedAgain() {
	t.keptN2()
	if _, err := t.use("web-1"); app.AsError(err).Reason != quarantine.ReasonGone {
		t.Fatalf("a machine that isn't kept is used: %v", err)
	}
	_, err := t.use("web-n2-kept-7")
	t.Must(err)
	before := t.Intents()
	t.Clock.Move(time.Minute)
	c := t.Claim("w")
	if c.Unasked || string(c.HostKey) != "host key of n2" || c.Node.MachineID != "m-t1-web-n2" || c.Node.Pool != "" || c.Node.TakenFrom != "web-n2-kept-7" {
		t.Fatalf("creation is handed out as %+v with host key %q", c, c.HostKey)
	}
	if i := before[c.Intent]; i.Cluster != "web-n2-kept-7" {
		t.Fatalf("its intent was %+v", i)
	}
	if i := t.Intents()[c.Intent]; i.Cluster != "web-1" || i.Node != "n3" || i.Machine != "m-t1-web-n2" {
		t.Fatalf("its intent is %+v", i)
	}
	// Its old cluster is gone, but it may have left a firewall, and the machine carries its tags until it's adopted.
	unproven, err := t.Store.Unproven(t.Ctx, 10)
	t.Must(err)
	of, err := t.Store.AssignedIntents(t.Ctx, []string{"web-n2-kept-7"})
	t.Must(err)
	if len(unproven) != 1 || unproven[0].ID != "web-n2-kept-7" || of[c.Intent] != "web-1" {
		t.Fatalf("to be proven gone are %+v, and in other clusters are %v", unproven, of)
	}
	lines := map[string]int{}
	for _, id := range []string{"web-1", "web-n2-kept-7"} {
		all, err := t.Store.Resources(t.Ctx, kit.Tenant, id)
		t.Must(err)
		for _, x := range all {
			if x.ID == "m-t1-web-n2" && x.DeletedAt.IsZero() {
				lines[id]++
			}
		}
	}
	if lines["web-1"] != 1 || lines["web-n2-kept-7"] != 0 {
		t.Fatalf("it's on the receipts %v", lines)
	}
	t.Confirm(c, false)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	if n, err := t.Store.KeptCount(t.Ctx, kit.Tenant); n != 0 || err != nil {
		t.Fatalf("%d are kept (%v)", n, err)
	}
}

// keptPromiseEnds: what was accepted and never begun leaves the machine kept, and what is being deleted isn't used.
func (t *storeTest) keptPromiseEnds() {
	t.keptN2()
	op, err := t.use("web-n2-kept-7")
	t.Must(err)
	t.Control(op.ID, app.ControlCancel, "")
	counts := func() (n int) {
		all, err := t.Store.Reservations(t.Ctx, kit.Tenant)
		t.Must(err)
		for _, r := range all {
			if strings.HasPrefix(r.Cluster, "web-n2-kept") && r.EndedAt.IsZero() {
				n++
			}
		}
		return n
	}
	t.Status("web-n2-kept-7", app.ClusterActive, app.OperationSucceeded)
	if counts() != 1 {
		t.Fatal("a kept machine that isn't used doesn't count")
	}
	_, err = t.Undo("web-1", kit.Back)
	t.Must(err)
	t.CarryOut("")
	_, err = t.use("web-n2-kept-7")
	t.Must(err)
	// It expires before the node's create begins: the node gets a new machine.
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: kit.Steps(app.OperationDelete, "n1.delete"), Operation: app.Operation{Tenant: kit.Tenant,
		Cluster: "web-n2-kept-7", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Cluster.ID == "web-1" && c.Step.Action == app.ActionCreate && (c.Node.MachineID != "" || !c.Unasked) {
			t.Fatalf("a machine that is being deleted is handed out: %+v", c)
		}
		t.Confirm(c, false)
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.Status("web-n2-kept-7", app.ClusterDeleted, app.OperationSucceeded)
	if counts() != 0 {
		t.Error("a deleted machine counts")
	}
	if _, err := t.use("web-n2-kept-7"); app.AsError(err).Reason != quarantine.ReasonGone {
		t.Errorf("a deleted machine is used: %v", err)
	}
}

// keptDeletionFailed: what a failed deletion may delete when it's tried again is no one else's, whether it failed before the machine was promised or after.
func (t *storeTest) keptDeletionFailed() {
	t.keptN2()
	_, err := t.use("web-n2-kept-7")
	t.Must(err)
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Plan: kit.Steps(app.OperationDelete, "n1.delete"), Operation: app.Operation{Tenant: kit.Tenant,
		Cluster: "web-n2-kept-7", Kind: app.OperationDelete, Requester: "ada", CreatedAt: t.Clock.Now()}})
	t.Must(err)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		switch {
		case c.Cluster.ID != "web-1":
			t.FailStep(c, app.Retry{})
			continue
		case c.Step.Action == app.ActionCreate && c.Node.MachineID != "":
			t.Fatalf("a machine whose deletion is to be tried again is handed out: %+v", c)
		}
		t.Confirm(c, false)
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.Status("web-n2-kept-7", app.ClusterFailed, app.OperationFailed)
	if _, err := t.use("web-n2-kept-7"); app.AsError(err).Reason != quarantine.ReasonGone {
		t.Errorf("a machine whose deletion failed is used: %v", err)
	}
}

// keptLostAndFound: a promise ends when the machine is lost, and it can be used once it's found.
func (t *storeTest) keptLostAndFound() {
	t.keptN2()
	op, err := t.use("web-n2-kept-7")
	t.Must(err)
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-n2-kept-7", "gone", t.Clock.Now()))
	t.Control(op.ID, app.ControlCancel, "")
	_, err = t.Undo("web-1", kit.Back)
	t.Must(err)
	t.CarryOut("")
	t.Must(t.Store.MarkFound(t.Ctx, kit.Tenant, "web-n2-kept-7", t.Clock.Now()))
	t.Status("web-n2-kept-7", app.ClusterActive, app.OperationSucceeded)
	op, err = t.use("web-n2-kept-7")
	t.Must(err)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	// Nothing that its old cluster has left to do finds the machine.
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-n2-kept-7")
	t.Must(err)
	if len(nodes) != 1 || nodes[0].MachineID != "" || op.Cluster != "web-1" {
		t.Errorf("its old cluster has %+v", nodes)
	}
}
