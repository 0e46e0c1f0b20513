package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"muster/app"
	"muster/app/template"
)

// PoolStocked is a machine that is ready.
type PoolStocked struct {
	Cluster string
	Pool    string
	Shape   string
	Zone    string
}

// PoolWant is a machine that a new node needs.
type PoolWant struct {
	Node  string
	Shape string
	Zone  string // "" for any
}

// MatchPool assigns machines to nodes: by index of want, the index in the stock, -1 for none. Nodes that want a zone choose first, then each takes what
// has waited longest, so the stock is in that order.
func MatchPool(wants []PoolWant, stock []PoolStocked) []int {
	got, taken := make([]int, len(wants)), make([]bool, len(stock))
	for i := range got {
		got[i] = -1
	}
	for _, zoned := range []bool{true, false} {
		for i, w := range wants {
			if (w.Zone != "") != zoned {
				continue
			}
			for j, m := range stock {
				if !taken[j] && m.Shape == w.Shape && (w.Zone == "" || m.Zone == w.Zone) {
					got[i], taken[j] = j, true
					break
				}
			}
		}
	}
	return got
}

// MachineShape names what a machine is: the provider, and what the catalog says of its hardware and image. The price does not count. Machines of one shape can
// stand for each other.
func MachineShape(provider string, f template.Flavor, i template.Image) string {
	f.CostPerHour, f.AsleepCostPerHour = 0, nil
	b, err := json.Marshal([]any{provider, f, i})
	if err != nil {
		panic("app: flavors and images hold only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// PoolWants returns what new nodes need, but for those that can have no machine of a pool.
func PoolWants(provider string, nodes []app.NewNode, d Definition) []PoolWant {
	shapes := map[[2]string]string{}
	wants := make([]PoolWant, 0, len(nodes))
	for _, n := range nodes {
		if n.NoPool {
			continue
		}
		kind := [2]string{n.Node.Hardware, n.Node.Image}
		if shapes[kind] == "" {
			shapes[kind] = MachineShape(provider, d.Hardware[kind[0]], d.Images[kind[1]])
		}
		wants = append(wants, PoolWant{Node: n.Node.Name, Shape: shapes[kind], Zone: n.Node.Zone})
	}
	return wants
}
