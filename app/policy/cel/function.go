package cel

import (
	"time"

	"muster/app"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// leastAndMost are the functions min and max, of two whole numbers, numbers or durations. A duration of 0 is a lease without expiry, which is
// longer than any other: min(lease, duration("8h")) is what people write to cap a lease.
func leastAndMost() []cel.EnvOption {
	of := func(name string, least bool) cel.EnvOption {
		return cel.Function(name,
			cel.Overload(name+"_int", []*cel.Type{cel.IntType, cel.IntType}, cel.IntType, cel.BinaryBinding(func(a, b ref.Val) ref.Val {
				x, y := a.(types.Int), b.(types.Int)
				if (x < y) == least {
					return x
				}
				return y
			})),
			cel.Overload(name+"_double", []*cel.Type{cel.DoubleType, cel.DoubleType}, cel.DoubleType, cel.BinaryBinding(func(a, b ref.Val) ref.Val {
				x, y := a.(types.Double), b.(types.Double)
				if (x < y) == least {
					return x
				}
				return y
			})),
			cel.Overload(name+"_duration", []*cel.Type{cel.DurationType, cel.DurationType}, cel.DurationType, cel.BinaryBinding(func(a, b ref.Val) ref.Val {
				x, y := a.(types.Duration), b.(types.Duration)
				if shorter(x.Duration, y.Duration) == least {
					return x
				}
				return y
			})))
	}
	return []cel.EnvOption{of("min", true), of("max", false)}
}

// shorter compares leases; 0 has no end.
func shorter(a, b time.Duration) bool { return a != 0 && (b == 0 || a < b) }

// namesIn reads a text, or a list of texts.
func namesIn(field string, v ref.Val) ([]string, error) {
	wrong := func(v ref.Val) error {
		return app.Errorf(app.EInvalid, "%s must be %s, not %s", field, names.words(), v.Type().TypeName())
	}
	switch v := v.(type) {
	case types.String:
		return []string{string(v)}, nil
	case traits.Lister:
		list := []string{}
		for it := v.Iterator(); it.HasNext() == types.True && len(list) < maxListed; {
			s, ok := it.Next().(types.String)
			if !ok {
				return nil, wrong(v.(ref.Val))
			}
			list = append(list, string(s))
		}
		return list, nil
	}
	return nil, wrong(v)
}
